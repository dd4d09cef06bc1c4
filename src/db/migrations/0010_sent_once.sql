-- A mail is sent once, and its event says so: no row beside it has to tell which was the first.

delete from first_occurrences where event_name = 'emailSent';
