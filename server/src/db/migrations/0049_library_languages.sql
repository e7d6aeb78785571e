-- The questions of the library come in more languages than before. Each account gets the new ones once, so that a translation that a
-- company removes stays removed.
alter table accounts add column library_languages text[] not null default '{de,en,sv}';
comment on column accounts.library_languages is
  'The languages in which the account has been given the texts of the library. Those that are added to the product later are still to come.';
