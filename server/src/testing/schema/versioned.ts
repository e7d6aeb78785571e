// The tables that replicas serve. The version of an account stands for what they contain (docs/decisions/0059). replica.test.ts checks that
// what is read from a replica is in no other table, and versions.test.ts that no change of these leaves the version as it was.

/** The tables, with the columns that count if not all do. What else the tables contain is not read, or does not change. */
export const versionedTables: Record<string, readonly string[] | undefined> = {
  accounts: ['manager_comparisons', 'timezone', 'kpi_weeks'],
  // It is read with the account, and not shown.
  sftp_usernames: [],
  groups: undefined,
  // Only numbers of active people are read.
  users: ['active'],
  memberships: undefined,
  questions: [
    'key',
    'type',
    'text',
    'language',
    'translations',
    'options',
    'allows_not_applicable',
    'retired_at',
  ],
  schedules: ['repeat', 'repeat_weeks', 'per_week', 'every_weeks', 'kpi_ids', 'paused_at'],
  rounds: undefined,
  kpis: undefined,
  kpi_questions: undefined,
  breakdowns: undefined,
  segments: undefined,
  weeks: [
    'threshold',
    'distribution_threshold',
    'comment_threshold',
    'shown_at',
    'closed_at',
    'kpi_weeks',
    'kpi_questions',
  ],
  asked: undefined,
  results: undefined,
  comments: undefined,
  comment_groups: undefined,
  response_rates: undefined,
  kpi_values: undefined,
  // Derived from the figures. Building them changes no response.
  fragments: [],
  fragment_weeks: [],
  packs: [],
  pack_weeks: [],
  pack_blocks: [],
  question_variances: undefined,
  question_statistics: undefined,
  kpi_statistics: undefined,
};
