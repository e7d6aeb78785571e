create function folded(words text) returns text
language sql immutable parallel safe
return case when octet_length(words) = char_length(words) then lower(words)
            else replace(replace(replace(translate(
                   lower(regexp_replace(normalize(words, NFKD), '[\u0300-\u036f]', '', 'g')),
                   'øłđħŧıðþ', 'oldhtidt'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe') end;
comment on function folded is 'A text as it is searched: without accents and letter case.';

alter table users add column search_text text not null generated always as (
  folded(first_name || ' ' || last_name || chr(10) || coalesce(email, '') || chr(10) || coalesce(external_id, ''))
) stored;
comment on column users.search_text is 'By what people are found, and sorted by name: name, e-mail address and externalId, folded.';
