// The actions that the audit log records, and what each means. The console has its own texts (`audit.action.…`).

/** All actions. A name is never given a second meaning. */
export const auditActions = {
  'signed in': 'A user signed in.',
  'signed out': 'A user signed out.',
  'signed out by provider': "A sign-in provider ended a person's sessions.",
  'sign-in confirmed': 'A user confirmed with the sign-in provider who they are.',
  'identity linked': "A person's identity at a sign-in provider was linked.",
  'identity removed': 'A user removed their identity at a sign-in provider.',
  'role kept':
    'A sign-in provider reported a lower role for the last Administrator or for a break-glass administrator, or Administrator within a week of a change of the provider or identity. The role was kept.',
  'provider added': 'A sign-in provider was added.',
  'provider changed': 'A sign-in provider was changed.',
  'provider removed': 'A sign-in provider was removed, with the identities of people there.',
  'provider tested': 'A sign-in provider was tested.',
  'single sign-on rule changed':
    'Single sign-on was required or not, or other break-glass administrators were chosen.',
  'person created': 'A person was created manually, or when they first signed in with a provider.',
  'person changed': 'A person was changed manually.',
  'person removed': 'A manually created person was removed, and their data was erased.',
  'person adopted': 'A manually created person is now managed by the HR system.',
  'person released': 'A person managed by the HR system is now managed manually.',
  'administrator pending':
    'An import made people Administrators, or changed the email address of Administrators. They are waiting for confirmation.',
  'administrator confirmed': 'A person who became an Administrator through an import was confirmed.',
  'survey emails turned on':
    'An administrator turned on the survey emails of a person who had turned them off.',
  'people adopted': 'Manually created people are now managed by the HR system.',
  'people released': 'People managed by the HR system are now managed manually.',
  'people invited': 'People were invited to sign in: by email, or with a sheet of links.',
  'people exported': 'A list of people was downloaded.',
  'comments exported': 'Comments of a group were downloaded.',
  'reports exported': 'Reports of a group, or of all groups that the user sees, were downloaded.',
  'run exported': 'The changes of a run, or the invalid rows of its file, were downloaded.',
  'sessions ended': "An administrator ended all of a person's sessions.",
  'group created': 'A group was created manually.',
  'group changed': 'A manually created group was changed.',
  'group moved': 'A group was moved in the tree, with all its subgroups.',
  'group removed': 'A manually created group was removed, with its results.',
  'group adopted': 'A manually created group is now managed by the HR system.',
  'group released': 'A group managed by the HR system is now managed manually.',
  'focus created': 'A group got a focus: a KPI or question that it works on.',
  'focus changed': 'The action, the responsible person or the last day of a focus was changed.',
  'focus checked in': 'A user wrote how a focus is going, or that it is done.',
  'focus stopped': 'A focus was stopped.',
  'focus reopened': 'A focus that was done or stopped was reopened.',
  'attribute defined': 'An attribute was defined.',
  'attribute changed': 'The allowed values of an attribute were changed.',
  'attribute removed': "An attribute was removed, with everyone's values.",
  'breakdown opened': 'A breakdown was opened. Weeks that open later have results for its segments.',
  'breakdown closed': 'A breakdown was closed. Weeks that open later have no such segments.',
  'breakdown removed': 'A breakdown was removed, with its figures.',
  'sign-in refused': 'Someone entered a wrong password or code for a person of the account.',
  'session ended': 'A user ended their own sessions.',
  'password changed': 'A password was set.',
  'sign-in link created': 'A link to set a password was created for a person.',
  'two-factor turned on': 'A person turned on two-factor authentication.',
  'two-factor turned off': 'Two-factor authentication was turned off for a person.',
  'recovery codes created': 'New recovery codes were created. The previous ones no longer work.',
  'profile changed': 'A user changed their own language, time zone or weekly digest.',
  'account created': 'The account was created.',
  'token created': 'An API token was created.',
  'token revoked': 'An API token was revoked and stopped working.',
  'settings changed': 'The account settings were changed.',
  'command run': 'The soundings command was run on the account.',
  'people provisioned':
    'People who existed already are now managed by the directory that provisions the account (SCIM).',
  'person kept':
    'An administrator decided that a person is not handed over to the directory (SCIM), or that this is to be decided again.',
  'directory changed':
    'The rule by which groups are derived from the directory (SCIM), or how long its removals wait, was changed.',
  'run applied': 'An organization request, a file or a change of the directory (SCIM) was applied.',
  'run refused': 'An organization request, a file or a change of the directory (SCIM) was refused.',
  'run pending':
    'A file or the directory (SCIM) would make more changes than allowed. It is awaiting approval.',
  'webhook created': 'A webhook endpoint was created.',
  'webhook changed': 'A webhook endpoint was changed, or turned on or off.',
  'webhook removed': 'A webhook endpoint was removed, with its deliveries.',
  'webhook secret rotated': 'A webhook endpoint got a new secret.',
  'webhook tested': 'A test event was sent to a webhook endpoint.',
  'webhook sent again': 'Deliveries to a webhook endpoint were sent again.',
  'webhook turned off':
    'The service turned a webhook endpoint off, because it had failed for days or no longer exists.',
  'pull created': 'A pull was created: a list that the service fetches itself.',
  'pull changed': 'A pull was changed, or turned on or off.',
  'pull removed': 'A pull was removed.',
  'pull requested': 'A user had a list fetched, or had it fetched as a dry run.',
  'pull failing': 'A list could not be fetched by its schedule.',
  'sandbox created': 'An administrator created their sandbox.',
  'sandbox reset': 'An administrator reset their sandbox.',
  'sandbox token replaced': 'An administrator replaced the token of their sandbox.',
  'sandbox deleted':
    'A sandbox was deleted by its administrator, or by the service: it was not used, its administrator lost the role, or sandboxes were turned off.',
  'question created': 'A question was created.',
  'question changed': 'The text of a question was changed.',
  'question retired': 'A question was retired. Schedules no longer ask it.',
  'question restored': 'A retired question was restored.',
  'kpi created': 'A KPI was created.',
  'kpi changed': 'The name, image or questions of a KPI were changed.',
  'schedule created': 'A schedule was created.',
  'schedule changed': 'A schedule was changed.',
  'schedule asked': 'The questions of a schedule were asked immediately, outside its rhythm.',
  'schedule paused': 'A schedule was paused.',
  'schedule resumed': 'A paused schedule was resumed.',
  'schedule removed': 'A schedule was removed.',
  'test mail sent': 'A user sent a test email to themselves from a schedule, or tested the email settings.',
  'week close requested': 'A user requested that a week be closed early.',
  'week lost': 'A week was closed without results, because its key was lost.',
  'backup created':
    'A backup of the installation was created, with the soundings command or by the service before an update.',
  'backup restored': 'The installation was restored from a backup.',
  'answer key exported': 'The answer key was exported for another process.',
  'key process removed': 'A process that had a copy of the answer key was removed from the list.',
  'answer key imported': 'The answer key was imported.',
  'secrets key exported': 'The secrets key was exported.',
  'secrets key imported': 'The secrets key was imported.',
  'secrets key reset':
    'The secrets key was replaced. SFTP has new host keys, and two-factor authentication must be set up again.',
  'answer key reset': 'The answer key was replaced. Open weeks were closed without results.',
  'links exported': 'Personal links for people without email were exported, to be handed out.',
  'cards created': 'Cards were printed for people without email. Their earlier cards stopped working.',
  'cards removed': 'Cards of people were removed and stopped working.',
  'kiosk created': 'A kiosk was created.',
  'kiosk turned off': 'A kiosk was turned off. Its address stopped working.',
  'audit log exported': 'The audit log was downloaded.',
  'run approved': 'A pending run was approved in the console and applied.',
  'run rejected': 'A pending run was rejected in the console.',
  'file uploaded': 'A file was uploaded in the console.',
  'file abandoned': 'A file was abandoned because processing it failed repeatedly or stopped the service.',
  'columns confirmed': 'A column mapping was saved for files with certain headers.',
  'columns removed': 'The column mapping for files with certain headers was removed.',
  'values confirmed': 'Value mappings for files were saved.',
  'value removed': 'A value mapping for files was removed.',
} as const;
export type AuditAction = keyof typeof auditActions;

/** The kinds of subject that have an ID. A week, an attribute and a command are identified by their names. */
export const subjectKinds = [
  'person',
  'group',
  'token',
  'schedule',
  'question',
  'kpi',
  'run',
  'file',
  'webhook',
  'pull',
] as const;
export type SubjectKind = (typeof subjectKinds)[number];

/** The subject kinds of actions whose name does not begin with the kind. */
const otherSubjects: { [action in AuditAction]?: SubjectKind } = {
  'administrator confirmed': 'person',
  'sandbox created': 'person',
  'sandbox reset': 'person',
  'sandbox token replaced': 'person',
  'sandbox deleted': 'person',
  'sign-in refused': 'person',
  'signed out by provider': 'person',
  'identity linked': 'person',
  'identity removed': 'person',
  'role kept': 'person',
  'sign-in link created': 'person',
  'password changed': 'person',
  'two-factor turned on': 'person',
  'two-factor turned off': 'person',
  'recovery codes created': 'person',
  'sessions ended': 'person',
  'survey emails turned on': 'person',
  'test mail sent': 'schedule',
  'reports exported': 'group',
  'focus created': 'group',
  'focus changed': 'group',
  'focus checked in': 'group',
  'focus stopped': 'group',
  'focus reopened': 'group',
};

/** Returns the kind of an action's subject, or null if the subject has no ID. */
export function subjectKindOf(action: string): SubjectKind | null {
  const [first] = action.split(' ');
  return otherSubjects[action as AuditAction] ?? subjectKinds.find((kind) => kind === first) ?? null;
}

/** Returns the actions about one kind of subject. */
export const actionsAbout = (kind: SubjectKind): AuditAction[] =>
  (Object.keys(auditActions) as AuditAction[]).filter((action) => subjectKindOf(action) === kind);
