// What the audit log tells of, and what each means. The console says them in its own words (`audit.action.…`).

/** Everything that is logged. A name is never given a second meaning. */
export const auditActions = {
  'signed in': 'Somebody signed in.',
  'signed out': 'Somebody signed out.',
  'person created': 'A person was made by hand.',
  'person changed': 'A person was changed by hand.',
  'person removed': 'A person made by hand was removed, and what was kept of the person erased.',
  'person adopted': 'A person made by hand was handed over to pushes and files.',
  'person released': 'A managed person was taken over from pushes and files.',
  'administrator pending':
    'A push or file made people Administrators, or gave Administrators another address: they wait for confirmation.',
  'administrator confirmed': 'A person whom a push or file made an Administrator was confirmed.',
  'people adopted': 'People made by hand were handed over to pushes and files.',
  'people released': 'Managed people were taken over from pushes and files.',
  'people exported': 'A list of people was downloaded.',
  'comments exported': 'Comments of a group were downloaded.',
  'run exported': 'What a run changed, or the faulty rows of its file, was downloaded.',
  'sessions ended': "An administrator ended all of a person's sessions.",
  'group created': 'A group was made by hand.',
  'group changed': 'A group made by hand was changed.',
  'group moved': 'A group was moved in the tree, with all beneath it.',
  'group removed': 'A group made by hand was removed, with its results.',
  'group adopted': 'A group made by hand was handed over to pushes and files.',
  'group released': 'A managed group was taken over from pushes and files.',
  'attribute defined': 'An attribute was defined.',
  'attribute changed': 'The values that an attribute allows were changed.',
  'attribute removed': "An attribute was removed, with everybody's value of it.",
  'sign-in refused': 'Somebody gave a wrong password, or a wrong code, for a person of the account.',
  'session ended': 'Somebody ended sessions of their own.',
  'password changed': 'A password was set.',
  'sign-in link made': 'A link by which a person sets a password was made.',
  'second step turned on': 'From then on signing in asks the person for a code.',
  'second step turned off': 'Signing in no longer asks the person for a code.',
  'recovery codes made': 'New recovery codes were made; those before are void.',
  'profile changed': 'Somebody changed their own language or time zone.',
  'account created': 'The account was made.',
  'token created': 'An API token was made.',
  'token revoked': 'An API token was revoked: it opens nothing from then on.',
  'settings changed': 'Settings of the account were changed.',
  'command run': 'The soundings command was used on the account.',
  'run applied': 'An organization request or a file was applied.',
  'run refused': 'An organization request or a file was refused.',
  'run held': 'A file would change more than allowed, and waits for approval.',
  'question created': 'A question was written.',
  'question changed': 'A question was given other words.',
  'question retired': 'A question was taken out of use: no schedule asks it from then on.',
  'question restored': 'A question that was retired was taken into use again.',
  'kpi created': 'A KPI was made.',
  'kpi changed': 'The name, image or questions of a KPI were changed.',
  'schedule created': 'A schedule was made.',
  'schedule changed': 'A schedule was changed.',
  'schedule paused': 'A schedule was paused.',
  'schedule resumed': 'A schedule that was paused goes on.',
  'schedule removed': 'A schedule was removed.',
  'test mail sent': 'Somebody sent a mail to themselves: of a schedule, or from the settings.',
  'week close asked': 'Somebody asked for a week to be closed before its end.',
  'week lost': 'A week was closed without results, because its key was lost.',
  'answer key exported': 'The key of open weeks was printed, for another process.',
  'key process forgotten': 'A process that had a copy of the key of open weeks was said to be gone.',
  'answer key imported': 'The key of open weeks was put in place.',
  'secrets key exported': 'The key of the secrets was printed, to be kept.',
  'secrets key imported': 'The key of the secrets was put in place.',
  'secrets key reset':
    'The key of the secrets was given up: SFTP got new host keys, and codes have to be set up again.',
  'answer key reset': 'The key of open weeks was given up: open weeks were closed without results.',
  'links exported':
    'Personal links of people to whom the service cannot write were downloaded, to be handed out.',
  'audit log exported': 'The audit log was downloaded.',
  'run approved': 'A held run was approved in the console, and applied.',
  'run rejected': 'A held run was rejected in the console.',
  'file uploaded': 'A file was sent from the console.',
  'file given up': 'A file was given up: processing it failed again and again, or ended the service.',
  'columns confirmed': 'What the columns of files with certain headers mean was confirmed.',
  'columns forgotten': 'What was confirmed of the columns of files with certain headers was removed.',
  'values confirmed': 'What values of files mean was confirmed.',
  'value forgotten': 'What was confirmed of a value of files was removed.',
} as const;
export type AuditAction = keyof typeof auditActions;

/** What an entry can be about that has an id of its own. A week, an attribute and a command are their own names. */
export const subjectKinds = [
  'person',
  'group',
  'token',
  'schedule',
  'question',
  'kpi',
  'run',
  'file',
] as const;
export type SubjectKind = (typeof subjectKinds)[number];

/** Of the actions that do not begin with the kind of what they are about. */
const otherSubjects: { [action in AuditAction]?: SubjectKind } = {
  'administrator confirmed': 'person',
  'sign-in refused': 'person',
  'sign-in link made': 'person',
  'password changed': 'person',
  'second step turned on': 'person',
  'second step turned off': 'person',
  'recovery codes made': 'person',
  'sessions ended': 'person',
  'test mail sent': 'schedule',
};

/** Of what kind the subject of an action is; null: of none that has an id. */
export function subjectKindOf(action: string): SubjectKind | null {
  const [first] = action.split(' ');
  return otherSubjects[action as AuditAction] ?? subjectKinds.find((kind) => kind === first) ?? null;
}

/** The actions about one kind. */
export const actionsAbout = (kind: SubjectKind): AuditAction[] =>
  (Object.keys(auditActions) as AuditAction[]).filter((action) => subjectKindOf(action) === kind);
