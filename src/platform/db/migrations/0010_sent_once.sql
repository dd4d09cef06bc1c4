-- An email is sent once, so its event needs no row in first_occurrences.

delete from first_occurrences where event_name = 'emailSent';
