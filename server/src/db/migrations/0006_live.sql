alter table weeks add column shown_digest bytea;
comment on column weeks.shown_digest is 'SHA-256 of what is shown of an open week: it is written anew only when it differs.';
