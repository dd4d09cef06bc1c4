-- Names without accents, for the search: "jose" finds "José". Computed by the database, so that no statement that writes
-- a name can forget it. Null for names in ASCII, which are searched as they are: most names cost nothing.
-- src/contacts/search-key.ts does the same to the text that is searched for.

create function search_key(name text) returns text
  language sql immutable parallel safe
  return case when octet_length(name) > length(name) then
    replace(replace(replace(replace(replace(replace(
      translate(
        regexp_replace(normalize(name, NFD), '[\u0300-\u036f]', '', 'g'),
        'ŁłØøĐđÐðĦħŦŧı', 'LlOoDdDdHhTti'),
      'ẞ', 'ss'), 'ß', 'ss'), 'Æ', 'ae'), 'æ', 'ae'), 'Œ', 'oe'), 'œ', 'oe')
  end;

alter table contacts
  add column first_name_key text generated always as (search_key(first_name)) stored,
  add column last_name_key text generated always as (search_key(last_name)) stored;
