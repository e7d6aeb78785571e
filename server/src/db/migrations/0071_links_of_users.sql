-- Links and messages refer to the user instead of the participant. Closing a week deletes all three, and PostgreSQL looked twice for each
-- participant for rows that refer to it. Who writes links and messages makes sure that their person is asked (rounds/links.sql.ts,
-- rounds/opening.sql.ts), and closing deletes the links after the participants (results/close-week.sql.ts).
alter table links drop constraint links_account_id_user_id_week_fkey;
alter table links add foreign key (account_id, user_id) references users on delete cascade;
alter table messages drop constraint messages_account_id_user_id_week_fkey;
alter table messages add foreign key (account_id, user_id) references users on delete cascade;
