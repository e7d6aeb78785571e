-- Comments in plain English. Nothing else changes.
comment on table accounts is
  'One company. Writes to its users or groups lock this row first, so that they run one after another.';
comment on column accounts.timezone is 'Time zone of the account''s weeks, and of users who have not set one.';
comment on column accounts.language is 'Language of users who have not set one.';
comment on column accounts.threshold is
  'Minimum number of answers behind a published figure. 1: not anonymous.';
comment on column accounts.publication is
  'weekly: figures are published when their week closes; live: also while it is open. Applies to weeks that open from now on.';
comment on column accounts.allowed_addresses is 'IP addresses and ranges that can upload files. Empty: any.';
comment on column accounts.apply_files is 'Whether files are applied. False: they are only validated.';
comment on column accounts.max_users_created is
  'Maximum number of users that one file can create. The next five columns are the limits for the other changes.';
comment on column accounts.files_partial is
  'Whether files only add and update. False: each file is the complete list, and users (or groups) not in it are removed.';
comment on column accounts.create_groups_from_users is
  'Whether groups named in a users file that do not exist yet are created. False: they are errors.';
comment on column accounts.notify_addresses is
  'Email addresses that are notified of files that wait for approval or have errors, and of API tokens that expire soon.';
comment on column accounts.notify_success is 'Whether they are also notified of files that were applied.';
comment on column accounts.noise is
  'By how many points of the scale a published sum may differ from the true one, in weeks that open from now on. 0: no noise.';
comment on column accounts.roles_by_sync is 'Whether pushes and files can set roles.';
comment on column accounts.default_country is
  'Country of phone numbers without a country code in files. Null: such numbers are not accepted.';
comment on table sftp_usernames is
  'The account of each SFTP user name. Names are unique in the whole service, so the key does not include the account.';
comment on table tokens is 'The API tokens of customers'' systems. The token itself is not stored.';
comment on column tokens.last_used_at is 'Updated at most once a minute.';
comment on column tokens.created_by is
  'The user who created it in the console. Null: created with the soundings command.';
comment on column tokens.last_used_from is 'The IP address of the use at last_used_at.';
comment on column tokens.end_told_days is
  'Expiry reminder last sent, in days before expiry. Null: none was sent yet.';
comment on column tokens.numbers is
  'How the data interface writes numeric values for this token. quoted: as strings, for clients of the original service.';
comment on table token_hashes is
  'SHA-256 of each token, to find its account. Hashes are unique in the whole service, so the key does not include the account.';
comment on table attributes is 'The custom attributes that users of an account can have.';
comment on column attributes.allowed_values is 'Null: any text is allowed.';
comment on table groups is
  'The groups of an account. parent_id makes them a hierarchy with any number of top-level groups.';
comment on column groups.managed is
  'True: managed by the HR system through pushes and files. False: created manually.';
comment on column users.managed is
  'True: managed by the HR system through pushes and files. False: created manually.';
comment on column users.email_key is 'The normalized address, for comparisons.';
comment on column users.timezone is 'Null: the time zone of the account.';
comment on column users.language is 'Null: the language of the account.';
comment on column users.attributes is 'Attribute values by name.';
comment on column users.active_since is 'The time since which the person has been active without interruption.';
comment on column users.role_pending is
  'A push or file gave this person the role Administrator, or changed the address of an Administrator, and no administrator has confirmed it yet. Until then, the person has the rights of a User.';
comment on column users.email_before is
  'The address before the first change of the last 30 days. Null: no such change, or already deleted.';
comment on column users.email_changed_at is
  'When the address was last changed. Null: not within the last 30 days.';
comment on column users.fingerprint is
  'Fingerprint of what was last sent for a managed user: if it is the same, nothing has to be done. Null after a manual change.';
comment on function note_activation is 'Sets active_since when a person becomes active.';
comment on function note_email is
  'Stores the previous address when it changes. If it changes several times within 30 days, the first previous address is kept.';
comment on table memberships is 'Which users belong to which groups, and how.';
comment on column memberships.kind is
  'memberOf: member; adminOf: owner; inheritedAdminOf: administrator, including subgroups; interestOf: read access.';
comment on table passwords is
  'The passwords of users who can sign in, as Argon2id hashes that include their parameters.';
comment on column runs.via is
  'How a file was sent. Null: the run is a request, or was stored before this column existed.';
comment on column runs.user_id is 'The user who uploaded the file in the console.';
comment on column runs.address is 'The IP address of the sender.';
comment on column runs.decided_at is 'When a pending run was approved or rejected.';
comment on column runs.decided_by is
  'The user who approved or rejected it. Null: decided with the soundings command, or not decided.';
comment on table runs is 'Every organization request and file: its sender, its settings and its result.';
comment on column runs.run_id is
  'The id of the request, which is also in its response, its x-request-id header and the log. UUIDv7, so it sorts by time.';
comment on column runs.outcome is
  'processing: not finished yet. held: awaiting approval. failed: ended without a response, or its process was killed; nothing was applied.';
comment on column runs.details is
  'The errors of a refused run. Invalid email addresses, phone numbers, time zones, languages and attribute values are not quoted; externalIds and keys are.';
comment on column run_changes.name is
  'The name of a group. Null for users, who are shown with their current name.';
comment on table run_changes is
  'The changes that a run made, or would have made, in the order of its report.';
comment on column run_changes.fields is
  'The changed fields of an update, before and after. Erased when a user is removed.';
comment on table migrations is 'The schema migrations that were applied to this database.';
comment on column accounts.version is
  'Raised by every change that can affect a response of the data interface. The same version means the same responses.';
comment on column accounts.spread_threshold is
  'Minimum number of answers behind a distribution, individual answers and yes/no figures. Null: twice the threshold, or 1 if that is 1.';
comment on column accounts.comment_threshold is
  'Minimum number of people who answered a question before its comments are shown. Null: twice the threshold, or 1 if that is 1.';
comment on table questions is
  'The questions of an account. A question that was asked keeps its type and options.';
comment on column questions.key is 'The name of the question in history files.';
comment on column questions.translations is 'Translated texts by language.';
comment on column questions.retired_at is
  'When the question was retired. Schedules no longer choose it. Null: it is in use.';
comment on column questions.options is
  'The options of types 5 and 6, in order: [{"id", "text", "translations": {language: text}}].';
comment on column kpis.name is 'The name in the data interface.';
comment on column kpis.translations is 'Names by language, for people who read that language.';
comment on column kpis.has_values is 'Whether a value of the KPI was ever published.';
comment on table kpi_questions is 'The questions of each KPI, of types 1 to 4.';
comment on table weeks is
  'The weeks in which an account runs surveys. Answering, opening and closing lock the row.';
comment on column weeks.week is 'The Monday of the week.';
comment on column weeks.threshold is
  'The thresholds, noise and publication of the account are stored when a week opens; later changes do not affect it.';
comment on column weeks.is_lost is 'Whether the week closed without results because its key was lost.';
comment on column weeks.shown_at is 'When figures of the open week were last published. Only for live weeks.';
comment on column weeks.closed_at is
  'When the figures were published and the answers deleted. Null: the week is open.';
comment on column weeks.noise is 'The noise of the account when the week was opened.';
comment on column weeks.is_live is
  'Whether figures are published while the week is open: the publication of the account when the week was opened.';
comment on column weeks.participation is
  'At least this many people have answered as of participation_on, rounded down in steps. Null: too few are asked, or not counted yet.';
comment on column weeks.participation_on is 'The day of the last count, in the account''s time zone.';
comment on column weeks.participation_at is
  'The time of the last count. The day alone is ambiguous if the account''s time zone changes.';
comment on table rounds is 'A set of questions for everyone in a group, in one week.';
comment on column rounds.group_id is
  'The group for which the round was opened. It may have been removed since.';
comment on column rounds.schedule_id is
  'The schedule that opened the round. Null: imported from a history file.';
comment on column rounds.above_ids is
  'The ancestors of the group when the round was opened, from its parent to the top.';
comment on table secrets_keys is
  'Identifies the key that seals secrets which the service must read again (second_steps, sftp_host_keys, noise_keys). The key itself is in a file outside the database. One row for the whole installation.';
comment on column secrets_keys.secret is 'The key itself. Only with ANSWER_KEYS=database.';
comment on table answer_keys is
  'Identifies the epoch key that wraps the keys of open weeks. The key itself is in a file outside the database. One row for the whole installation.';
comment on column answer_keys.chain is 'The random name of the chain of epoch keys.';
comment on column answer_keys.epoch is
  'Increases after each closing of a week. The keys of open weeks are then wrapped by the next epoch key.';
comment on column answer_keys.is_spent is 'Whether a week has closed in this epoch, so that it must end.';
comment on column answer_keys.secret is 'The epoch key. Only with ANSWER_KEYS=database.';
comment on column answer_keys.exported_at is
  'When a key was last exported. Anyone who has it can compute all later keys of its chain. Null: never.';
comment on column answer_keys.exported_until is
  'When the last chain with an exported key ended. Later keys cannot be computed from that key. Null: no such chain has ended.';
comment on column answer_keys.tried is
  'The latest epoch that was attempted. Keys wrapped by its key may have been written even if it never started.';
comment on column answer_keys.in_database_until is
  'When the secret was last removed from the database. The database log and backups until then contain it. Null: never removed.';
comment on table key_processes is
  'The processes that have a copy of the epoch key, and its epoch. A process that is behind still has keys that the others have erased. Rows stay until "soundings keys remove-process". For the whole installation.';
comment on table week_keys is
  'The keys of open weeks, wrapped by the epoch key. Deleted when the week closes.';
comment on column week_keys.in_database is
  'Whether the key that unwraps this one was in the database while the week was open. Until the database log and older backups are gone, they reveal who answered what.';
comment on table assignments is
  'The people who are asked by each round of an open week. Deleted when the week closes.';
comment on column assignments.respondent is
  'The pseudonym of a person in this week, computed from the week''s key and the internal id of the user.';
comment on column assignments.group_ids is
  'The groups in which the person''s answers count: their own groups within the asked group, and all ancestors of those.';
comment on table answers is
  'The answers of open weeks, sealed with the key of the week. Rows reveal no person, time or order. Deleted when the week closes.';
comment on column answers.part is '0: answered with a link. Other numbers: imported from a history file.';
comment on column answers.sealed is 'All answers of a person, padded to one of a few lengths.';
comment on table asked is
  'The questions that a group was asked in a week, directly or through one of its ancestors.';
comment on table results is 'The published figures of questions. Never changed. Null: withheld.';
comment on column results.value is 'From 0 to 1.';
comment on column results.answers is 'The number of answers behind the figure.';
comment on column results.noise is 'The noise with which the figure was published.';
comment on column results.handed_out is
  'Whether fewer people than the threshold answered with a link that was mailed to them, rather than handed out by the employer. Counts only the people behind the figure.';
comment on column comments.position is 'Random order, which reveals nothing.';
comment on table comment_groups is 'The groups in which each comment is shown.';
comment on column comment_groups.handed_out is
  'Whether fewer people than the threshold for comments answered with a link that was mailed to them, rather than handed out by the employer. False for weeks that closed before this was stored.';
comment on column response_rates.handed_out is
  'Whether, in one of its cells, fewer people than the threshold were asked without a handed-out link. False for weeks that closed before this was stored.';
comment on column response_rates.people is
  'How many people in the group were asked anything in the week. Null: the rate is withheld, or the week closed before this was stored.';
comment on table kpi_values is 'The published values of KPIs. Null: no figure of its questions is published.';
comment on column kpi_values.handed_out is
  'Whether handed_out is true for one of the figures behind the value.';
comment on column kpi_values.asked_whole is
  'Whether the whole group was asked one of the KPI''s questions, directly or through one of its ancestors.';
comment on table token_usage is
  'The number of requests of each token per minute, in all processes together. Unlogged: empty after a crash, and counting starts again.';
comment on column token_usage.requests is
  'Does not include the last few requests of a process that is still counting.';
comment on column files.user_id is 'The user who uploaded the file in the console.';
comment on column files.address is 'The IP address of the sender.';
comment on table files is
  'Running uploads and received files. A file replaces a waiting file with the same name: the last one counts.';
comment on column files.name is
  'During an upload: the name under which it is written, which may be temporary.';
comment on column files.size is 'In bytes. During an upload: the number of bytes written so far.';
comment on column files.arrival is
  'The order in which files are processed. Null: the upload is not complete yet.';
comment on column files.turn is
  'The id of the job that processes the file. Null: none does. The value stays if the process of the job is killed.';
comment on column files.begun_at is 'When processing last started.';
comment on column files.failures is
  'How many attempts failed because of the file. It is given up after 3 attempts if the last one failed with an unexpected error, or after 5 if the system stopped the process that reads the file.';
comment on column files.interruptions is
  'How often the service stopped while processing the file. This never counts against the file, but from the third time on, the next attempt waits longer.';
comment on column files.is_refused is 'Whether the upload was refused. Then only its report is stored.';
comment on column files.run_id is 'The run that processed the file.';
comment on column files.report is
  'The report for the sender. It includes the invalid values, which the run does not store.';
comment on table file_parts is
  'The content of files, in rows of 8,000 bytes except the last. Deleted some days after the file was processed (setting FILE_DAYS).';
comment on function refuse_part_without_file is
  'Replaces a foreign key, which would be checked for every row. The rows of a part, 32 at most, are written by one statement.';
comment on function remove_parts is 'Deletes the content of a file together with the file.';
comment on table held_runs is
  'Pending runs: files whose changes exceed a limit and wait for approval. Deleted once approved or rejected.';
comment on column held_runs.names is 'The names of the people that the run would create: {externalId: name}.';
comment on column held_runs.organization is 'The content of the file, as JSON compressed with gzip.';
comment on column held_runs.plan_digest is
  'SHA-256 of the changes that were shown. Only exactly these changes can be approved.';
comment on table sftp_host_keys is
  'The host keys by which SFTP clients recognize the service. All processes share them, so the key does not include the account.';
comment on column sftp_host_keys.private_key is 'The sealed private key, in base64.';
comment on table schedules is 'Schedules: which questions are sent to which groups, how often and when.';
comment on column schedules.question_ids is
  'The questions to ask each time. Empty: chosen from the KPIs in kpi_ids.';
comment on column schedules.kpi_ids is
  'The KPIs to choose questions from: at most per_week each time, and none that was asked in the last every_weeks - 1 weeks.';
comment on column schedules.without_group_ids is 'Members of these groups and their subgroups are not asked.';
comment on column schedules.repeat is
  'weeks: every repeat_weeks weeks; monthly: on the first such weekday of each month.';
comment on column schedules.weekday is '1: Monday. The hour is in each person''s time zone.';
comment on column schedules.any_hour is 'Whether messages can be sent at night and on weekends.';
comment on column schedules.reminder_days is
  'How many days after the invitation the reminder is sent, at reminder_hour. Null: no reminder.';
comment on table schedule_weeks is
  'The weeks in which a schedule was due, and the outcome. Each week is opened only once.';
comment on column schedule_weeks.people is 'How many people were asked.';
comment on table participants is
  'The people who are asked in an open week. Only the key of the week reveals who has answered. Deleted when the week closes.';
comment on table links is
  'SHA-256 of the personal links with which people answer. Unique in the whole service, so the key does not include the account. Deleted when the week closes.';
comment on column links.sent_to is
  'The email address that the link was sent to. Null: handed out by the employer.';
comment on column links.is_exported is
  'Whether the employer handed out the link, instead of Soundings sending it.';
comment on column links.handed_by is
  'The user who handed out the link. Null: handed out with the soundings command, or sent by Soundings.';
comment on table messages is
  'The emails to the people who are asked in an open week. Each is sent once. Deleted when the week closes.';
comment on column messages.state is
  'sending: passed to the mail server, which has not confirmed it yet. unknown: it was never confirmed; not sent again. unneeded: a reminder to a person who had already answered.';
comment on column messages.due_at is
  'The earliest time to send the message. While a process is sending it: when another process may take over.';
comment on column messages.late_since is
  'When the message was originally due. due_at moves with each attempt. Null: not attempted, or postponed to working hours in the person''s time zone.';
comment on table mail_refusals is
  'The people whose last invitation was rejected by the mail server, and the reason. Deleted when a later invitation is accepted. Not stored for reminders, because only people who have not answered get one.';
comment on table reminder_stops is 'The people who opted out of reminders.';
comment on table stop_keys is
  'The key that signs the links for opting out of reminders. The links stay valid after their week without storing any of them. The oldest key is used. For the whole installation.';
comment on table job_workers is
  'The process of each job worker, by the name of its connections. If a process is gone, others take over its jobs. For the whole installation.';
comment on table sessions is
  'SHA-256 of the session cookies of the console. Unique in the whole service, so the key does not include the account.';
comment on column sessions.session_id is 'The id that the person uses to end the session.';
comment on column sessions.proved_at is
  'When the person last entered the password in this session: at sign-in and before sensitive actions. Null: the session was stored before this column existed.';
comment on column sessions.seen_at is 'When the session was last used. Updated at most once a minute.';
comment on column sessions.agent is 'The User-Agent header of the browser at sign-in.';
comment on table audit_entries is
  'The audit log: who did what, when and from where. Entries are never changed or removed.';
comment on column audit_entries.user_id is 'The user who did it. The number stays after a person is removed.';
comment on column audit_entries.action is
  'The action, such as "token created". The list is in contract/src/audit-actions.ts.';
comment on column audit_entries.subject is
  'What the action applied to: an id, or a name that does not identify a person.';
comment on function refuse_change is 'Makes a table append-only.';
comment on table noise_keys is
  'The sealed key that determines the noise in an account''s figures, so that the same people always get the same noise. Created with the first figures that have noise.';
comment on table second_steps is
  'The secrets of two-factor authentication (TOTP, RFC 6238). They are sealed rather than hashed, because codes are computed from them.';
comment on column second_steps.on_since is
  'When two-factor authentication was turned on. Null: the secret was shown but not confirmed with a code yet.';
comment on column second_steps.last_step is
  'The 30-second step of the last used code. Codes of this step and earlier ones are not accepted again.';
comment on table recovery_codes is
  'SHA-256 of the recovery codes for people who have lost their phone. Used codes are deleted.';
comment on table sign_in_links is
  'SHA-256 of the links for setting a password. Unique in the whole service, so the key does not include the account. Using one deletes all links of the person.';
comment on column sign_in_links.email_key is
  'The normalized address of the person when the link was created. If the address changes, the link stops working.';
comment on column sign_in_links.kind is
  'forgotten: requested by the person; given: created by an administrator.';
comment on function end_sign_in is
  'Makes people who become Administrators set a new password: their earlier links, password and sessions are deleted.';
comment on table first_links is
  'SHA-256 of the link that creates the first account, which the service printed last. Empty once an account exists.';
comment on table sign_in_failures is
  'Failed sign-ins by hashes of email addresses and networks, kept for a day at most. known: networks from which a person has signed in, kept for 90 days.';
comment on table column_mappings is
  'Confirmed mappings from the headers of files to the fields of users and groups.';
comment on column column_mappings.headers_digest is 'SHA-256 of the headers, in any order.';
comment on column column_mappings.columns is 'In the order of the confirmed file: [{"header", "means"}].';
comment on column column_mappings.user_id is 'The user who confirmed the mapping.';
comment on table value_mappings is 'Confirmed meanings of values in files, such as "Leave" as a status.';
comment on column value_mappings.word is 'The value without regard to case, for comparisons.';
comment on column value_mappings.value is 'The value as it was first written.';
comment on column value_mappings.means is 'yes, no, or a role. ignore: the cell counts as empty.';
comment on column value_mappings.user_id is
  'The user who confirmed the meaning. Null: confirmed with the soundings command.';
comment on function folded is 'Returns a text without accents and in lower case, for searching.';
comment on column users.search_text is
  'The text for searching people and sorting them by name: name, email address and externalId, folded.';
comment on column runs.sets_tree is
  'For an applied run that lists groups: whether it sets their parents, so that the next run would undo manual moves.';
