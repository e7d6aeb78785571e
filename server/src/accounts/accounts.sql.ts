// SQL for accounts and their SFTP user names. Writers: accounts.ts.
import type { ManagerComparison } from '@soundings/contract/comparisons.ts';
import type { AccountId, Db, Transaction } from '../db/db.ts';

/** `sandbox`: demo data in which an administrator tries the interfaces. `template`: what sandboxes are copied from. */
export type AccountKind = 'company' | 'sandbox' | 'template';

export type Account = {
  id: number;
  kind: AccountKind;
  name: string;
  sftpUsername: string;
  timezone: string;
  language: string;
  threshold: number;
  distributionThreshold: number | null;
  commentThreshold: number | null;
  publication: 'weekly' | 'live';
  /** How many points of the scale a published sum may differ from the true one. */
  noise: 0 | 1 | 2;
  allow: string[];
  applyFiles: boolean;
  maxUsersCreated: number;
  maxUsersUpdated: number;
  maxUsersDeleted: number;
  maxGroupsCreated: number;
  maxGroupsUpdated: number;
  maxGroupsDeleted: number;
  filesPartial: boolean;
  createGroupsFromUsers: boolean;
  /** The country, such as SE, of phone numbers without a country code in files. */
  defaultCountry: string | null;
  notify: string[];
  notifySuccess: boolean;
  /** Whether pushes and files can set roles. */
  rolesBySync: boolean;
  /** How many weeks a rolling KPI value covers; null: as many as the schedules need to ask all questions. */
  kpiWeeks: number | null;
  /** What managers can compare the results of their groups with. */
  managerComparisons: ManagerComparison[];
  /** Whether managers and administrators get a digest after a week has closed. */
  digest: boolean;
  /** How many days after the day on which a week closes its digest is sent, and at which hour in the recipient's time zone. */
  digestDays: number;
  digestHour: number;
  /** Whether digests contain comments. */
  digestComments: boolean;
  /** Whether people who have a phone number and no email address get text messages. */
  sms: boolean;
  /** How many changes of each kind a push in parts can be allowed to make. Only the operator raises it. */
  largestPush: number;
};

export type AccountSettings = Omit<Account, 'id' | 'kind' | 'sftpUsername'>;

/** Creates an account and returns its id. All other settings get the defaults of their columns. */
export async function insertAccount(
  tx: Transaction,
  account: Pick<Account, 'name' | 'timezone' | 'language' | 'threshold' | 'kind'>,
): Promise<AccountId> {
  const [row] = await tx<{ id: number }[]>`
    insert into accounts (kind, name, timezone, language, threshold)
    values (${account.kind}, ${account.name}, ${account.timezone}, ${account.language}, ${account.threshold})
    returning account_id as id`;
  return row!.id;
}

export async function insertSftpUsername(
  tx: Transaction,
  accountId: AccountId,
  username: string,
): Promise<void> {
  await tx`insert into sftp_usernames (username, account_id) values (${username}, ${accountId})`;
}

/** Returns an account with all its settings, or undefined if it doesn't exist. */
export async function selectAccount(db: Db, accountId: AccountId): Promise<Account | undefined> {
  const [row] = await db<Account[]>`
    select a.account_id          as "id",
           a.kind                as "kind",
           a.name                as "name",
           s.username            as "sftpUsername",
           a.timezone            as "timezone",
           a.language            as "language",
           a.threshold           as "threshold",
           a.distribution_threshold    as "distributionThreshold",
           a.comment_threshold   as "commentThreshold",
           a.publication         as "publication",
           a.noise               as "noise",
           a.allowed_addresses   as "allow",
           a.apply_files         as "applyFiles",
           a.max_users_created   as "maxUsersCreated",
           a.max_users_updated   as "maxUsersUpdated",
           a.max_users_deleted   as "maxUsersDeleted",
           a.max_groups_created  as "maxGroupsCreated",
           a.max_groups_updated  as "maxGroupsUpdated",
           a.max_groups_deleted  as "maxGroupsDeleted",
           a.files_partial       as "filesPartial",
           a.create_groups_from_users as "createGroupsFromUsers",
           a.default_country     as "defaultCountry",
           a.notify_addresses    as "notify",
           a.notify_success      as "notifySuccess",
           a.roles_by_sync       as "rolesBySync",
           a.kpi_weeks           as "kpiWeeks",
           a.manager_comparisons as "managerComparisons",
           a.digest              as "digest",
           a.digest_days         as "digestDays",
           a.digest_hour         as "digestHour",
           a.digest_comments     as "digestComments",
           a.sms                 as "sms",
           a.largest_push        as "largestPush"
    from   accounts a
    join   sftp_usernames s using (account_id)
    where  a.account_id = ${accountId}`;
  return row;
}

export async function updateAccount(
  tx: Transaction,
  accountId: AccountId,
  account: AccountSettings,
): Promise<void> {
  await tx`
    update accounts
    set    name               = ${account.name},
           timezone           = ${account.timezone},
           language           = ${account.language},
           threshold          = ${account.threshold},
           distribution_threshold   = ${account.distributionThreshold},
           comment_threshold  = ${account.commentThreshold},
           publication        = ${account.publication},
           noise              = ${account.noise},
           allowed_addresses  = ${account.allow},
           apply_files        = ${account.applyFiles},
           max_users_created  = ${account.maxUsersCreated},
           max_users_updated  = ${account.maxUsersUpdated},
           max_users_deleted  = ${account.maxUsersDeleted},
           max_groups_created = ${account.maxGroupsCreated},
           max_groups_updated = ${account.maxGroupsUpdated},
           max_groups_deleted = ${account.maxGroupsDeleted},
           files_partial      = ${account.filesPartial},
           create_groups_from_users = ${account.createGroupsFromUsers},
           default_country    = ${account.defaultCountry},
           notify_addresses   = ${account.notify},
           notify_success     = ${account.notifySuccess},
           roles_by_sync      = ${account.rolesBySync},
           kpi_weeks          = ${account.kpiWeeks},
           manager_comparisons = ${account.managerComparisons},
           digest             = ${account.digest},
           digest_days        = ${account.digestDays},
           digest_hour        = ${account.digestHour},
           digest_comments    = ${account.digestComments},
           sms                = ${account.sms},
           largest_push       = ${account.largestPush}
    where  account_id = ${accountId}`;
}

/** An account in the list of all. `owner`: of a sandbox, the account and the user who has it; null if it is about to be deleted. */
export type ListedAccount = {
  id: AccountId;
  kind: AccountKind;
  name: string;
  people: number;
  owner: { accountId: AccountId; userId: number } | null;
};

/** Returns all accounts, sandboxes included, with the number of their people. */
export async function selectAllAccounts(db: Db): Promise<ListedAccount[]> {
  return db<ListedAccount[]>`
    select a.account_id as "id",
           a.kind       as "kind",
           a.name       as "name",
           (select count(*)::integer from users u where u.account_id = a.account_id) as "people",
           (select json_build_object('accountId', s.account_id, 'userId', s.user_id)
            from   sandboxes s where s.sandbox_id = a.account_id)                    as "owner"
    from   accounts a
    order  by a.account_id`;
}

/** Dismisses the page with the first steps, or shows it again. Returns whether that changed anything. */
export async function updateStartDismissed(
  tx: Transaction,
  accountId: AccountId,
  isDismissed: boolean,
): Promise<boolean> {
  const at = isDismissed ? tx`now()` : null;
  const rows = await tx`
    update accounts set start_dismissed_at = ${at}
    where  account_id = ${accountId} and (start_dismissed_at is not null) <> ${isDismissed}
    returning 1`;
  return rows.length > 0;
}

/** Returns the accounts that have not been given the texts of the library in all of these languages. */
export async function selectLackingLanguages(db: Db, languages: readonly string[]): Promise<AccountId[]> {
  const rows = await db<{ id: number }[]>`
    select account_id as "id"
    from   accounts
    where  not library_languages @> ${languages as string[]}
    order  by account_id`;
  return rows.map(({ id }) => id);
}

/** Returns the languages in which an account has been given the texts of the library. */
export async function selectLibraryLanguages(db: Db, accountId: AccountId): Promise<string[]> {
  const [row] = await db<{ languages: string[] }[]>`
    select library_languages as "languages" from accounts where account_id = ${accountId}`;
  return row?.languages ?? [];
}

/** Notes that an account has been given the texts of the library in these languages. */
export async function updateLibraryLanguages(
  tx: Transaction,
  accountId: AccountId,
  languages: readonly string[],
): Promise<void> {
  await tx`
    update accounts set library_languages = ${languages as string[]} where account_id = ${accountId}`;
}

/** Locks an account for writing its users or groups, until the transaction ends. Returns false if it doesn't exist. */
export async function lockAccountRow(tx: Transaction, accountId: AccountId): Promise<boolean> {
  const rows = await tx`select 1 from accounts where account_id = ${accountId} for no key update`;
  return rows.length > 0;
}

/**
 * Raises the version of an account. Call it in the transaction of every change that can affect a response of the data
 * interface, so that cached responses are no longer used. Versions are based on the clock, so that none is ever reused, even
 * after restoring a backup or switching to another database.
 */
export async function raiseVersion(tx: Transaction, accountId: AccountId): Promise<void> {
  await tx`
    update accounts
    set    version = greatest(version + 1, (extract(epoch from statement_timestamp()) * 1000000)::bigint)
    where  account_id = ${accountId}`;
}
