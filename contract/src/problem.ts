// The JSON body of every error, the same for all interfaces (§2.3, decision E4).
import { Type, type Static } from 'typebox';
import { formatTexts } from './formats.ts';
import { scaledTypes, typesText } from './question-types.ts';

export const Detail = Type.Object(
  {
    type: Type.String({ description: 'The kind of error: a code listed in docs/integrators/errors.md.' }),
    message: Type.String({ description: 'What is wrong and how to fix it.' }),
    path: Type.Optional(
      Type.String({ description: 'Where: a JSON pointer into the body, or the name of a parameter.' }),
    ),
    externalId: Type.Optional(Type.String({ description: 'The user or group that the error is about.' })),
    row: Type.Optional(Type.Integer({ description: 'The row of the file, starting at 1.' })),
    sheet: Type.Optional(Type.String({ description: 'The sheet of the file.' })),
    column: Type.Optional(Type.String({ description: 'The header of the column in the file.' })),
    value: Type.Optional(
      Type.String({ description: 'The content of the cell, or the one value of several that is wrong.' }),
    ),
    setting: Type.Optional(Type.String({ description: 'The setting whose limit is exceeded.' })),
    limit: Type.Optional(Type.Integer({ description: 'The limit that the setting allows.' })),
    count: Type.Optional(Type.Integer({ description: 'The number of changes that the request would make.' })),
  },
  { title: 'Detail' },
);
export type Detail = Static<typeof Detail>;

export const Problem = Type.Object(
  {
    id: Type.String({
      description: 'The ID of the request. It is also in the x-request-id header and in the log.',
    }),
    message: Type.String({ description: 'What went wrong, in one sentence.' }),
    details: Type.Array(Detail, { description: 'All errors that were found.' }),
  },
  { title: 'Problem', description: 'The body of every error.' },
);
export type Problem = Static<typeof Problem>;

/**
 * Every type of error and warning that a response, a report or the command can contain, with its meaning. docs/integrators/errors.md is
 * generated from this list. A type is never given a second meaning.
 */
export const detailTypes = {
  'invalid token': 'The token is missing, unknown, expired or revoked.',
  'missing scope': 'The token is valid but lacks the scope of this interface.',
  'sandbox full': 'The sandbox has more data than allowed. Its token works again after a reset.',
  'account deleted': 'The account, a sandbox, was reset or deleted while the request was running.',
  'sandbox account': 'The account is a sandbox, which does not have this. The message says what.',
  'sandbox refused': 'A sandbox can’t be created or reset. The message says why.',
  'sandbox not found': 'The user has no sandbox.',
  'too many sandboxes': 'The user has created or reset a sandbox too often. Try again later.',
  'not found': 'There is nothing at this address.',
  'method not allowed':
    'This address does not support the method. The `Allow` header lists the methods it supports.',
  'unsupported media type': 'This address does not accept the content type or encoding.',
  'too large': 'The body is larger than allowed, as sent or uncompressed.',
  'too slow': 'The body of the request arrived too slowly.',
  'https required': 'The request was sent over plain HTTP. Use the address that begins with https://.',
  'bad request': 'The request is not valid HTTP.',
  'too many requests':
    'The token has used up its requests for this minute. Try again after `Retry-After` seconds.',
  unavailable:
    'The service is starting, stopping, busy, or has no database connection. Try again after `Retry-After` seconds.',
  'internal error': 'An unexpected error in Soundings. Search the log for the ID of the response.',

  'unknown parameter': 'The operation has no query parameter of this name.',
  'repeated parameter': 'A query parameter is given more than once.',
  'missing parameter': 'A required query parameter is missing or empty.',
  'invalid parameter': 'The value of a query parameter is not allowed.',

  'invalid gzip': 'The `Content-Encoding` header says gzip, but the body is not valid gzip.',
  'invalid utf-8': 'The body is not valid UTF-8.',
  'invalid json': 'The body is not valid JSON.',
  'duplicate key': 'An object in the body contains the same key twice.',
  'invalid text': 'A string contains U+0000 or an unpaired surrogate.',
  'too deep': 'Arrays and objects in the body are nested too deeply.',
  'too many values':
    'The body contains more values (strings, numbers, objects, …) than allowed, one of its objects contains too many keys, or a file names too many groups.',

  'invalid filter':
    'A SCIM filter can’t be read, has an attribute that can’t be compared in this way, or is too long.',
  'invalid path':
    'The path of a SCIM PATCH operation can’t be read, or names an attribute that does not exist.',
  'no target': 'The path of a SCIM PATCH operation selects no value, or a path is missing.',
  'invalid syntax': 'A SCIM request has another form than the standard says. The message says where.',
  'read-only attribute': 'A SCIM request would change an attribute that can only be read.',
  'already exists': 'Another SCIM user has the same userName (upper and lower case count as equal).',
  'resource not found': 'The directory has no resource with this ID.',
  'version changed': 'The resource is not the version that the `If-Match` header names.',
  'too many results': 'A SCIM filter would have to compare too many resources one by one.',
  'not supported': 'SCIM leaves this optional, and Soundings does not support it.',

  'wrong type':
    'A value has the wrong JSON type. Values are not converted: the string "false" is not the boolean false.',
  'missing field': 'A required field is missing.',
  'unknown field':
    'The field is not part of the interface. In a user or group this is a warning, and the field is ignored.',
  'out of range': 'A number or choice is outside the allowed range.',
  'too long': 'A string is longer than allowed.',
  'invalid externalId': formatTexts.en['invalid externalId'],
  'invalid email': formatTexts.en['invalid email'],
  'invalid phone': formatTexts.en['invalid phone'],
  'trunk zero':
    'Warning: a phone number contains the zero that is dialled only within the country, as in +46 (0)70. The zero was removed.',
  'invalid timezone': formatTexts.en['invalid timezone'],
  'invalid language': formatTexts.en['invalid language'],
  'invalid threshold':
    'The threshold is too low to keep answers anonymous. Use 3 or more, or 1 to turn anonymity off.',
  'invalid address range': 'Not a valid IP address or range.',
  'invalid value': 'The value is not allowed here. The message lists the allowed values.',
  'duplicate externalId': 'Two users, or two groups, have the same externalId.',
  'duplicate email': 'Two users have the same email address (upper and lower case count as equal).',
  'manually created':
    'The externalId belongs to a user or group that was created manually. Imports never change those.',
  'other source':
    'The externalId belongs to a user or group of another source: the directory that provisions the account over SCIM, or pushes and files. No source changes what belongs to another.',
  'unknown group': 'A user is in a group that does not exist, or that this request removes.',
  'unknown parent': 'The parent of a group does not exist, or this request removes it.',
  cycle: 'The groups form a circular hierarchy.',
  'unknown attribute': 'The attribute is not defined in the account.',
  'value not allowed': 'The attribute does not allow this value.',
  'no administrator': 'The request would leave the account without an active administrator.',
  'limit exceeded': 'The request would make more changes than a max* setting allows.',
  'push not found': 'The account has no push in parts with this ID.',
  'push open': 'The account already has an open push in parts. Continue or delete it.',
  'push processing': 'A commit of the push is running. Wait until it has ended.',
  'push applied': 'The push was applied. Open another one for further changes.',
  'parts missing': 'Parts of the push were not received. The message says which.',
  'limit too high':
    'A max* setting of a commit is higher than the account allows. The operator can raise it.',
  'unexpected plan':
    'The request would make other changes than the dry run whose `plan` it names in `expectedPlan`. Send a dry run again.',
  more: 'There are more errors or warnings than the response lists. The message says how many.',

  'moved up': 'Warning: a manually created group moves up one level because its parent is removed.',
  'new externalId':
    'Warning: a removed user and a new user have the same email address, or a removed and a new group have the same name and parent. They may be the same person or group with a new externalId.',
  'history deleted': 'Warning: a group that is removed has results. They are deleted with it.',
  'administrator pending':
    'Warning: a user becomes an Administrator, or an Administrator gets a new email address. Another administrator must confirm it in the console.',
  'roles ignored': 'Warning: the request contains roles, but the account does not let imports set them.',
  'named twice': 'Warning: a user lists the same group twice.',
  'auditor replaced':
    'Warning: the role in the request replaces the Auditor role, which was given in the console. Leave the role out to keep it.',

  'not signed in': 'You are not signed in to the console, or your session has expired.',
  'missing role': 'Your role does not allow this in the console.',
  'password required':
    'This action requires your password if you have not entered it in the last ten minutes. Send it to `POST /session/proof`, then repeat the request.',
  'foreign page': 'The request to the console came from a page of another website.',
  'wrong sign-in': 'The email address or the password is wrong.',
  'wrong code': 'The two-factor code is wrong, expired or already used.',
  'two-factor on': 'Two-factor authentication is already on.',
  'setup expired': 'The setup of two-factor authentication was already confirmed, or has expired.',
  'wrong password': 'The password that was entered to confirm is wrong.',
  'short password': 'The password is too short.',
  'common password': 'The password is too common, or repeats a few characters.',
  'password of names': 'The password consists of the person’s name or email address.',
  'too many attempts': 'Too many failed attempts to sign in. Try again after `Retry-After` seconds.',
  'too many test emails': 'The email settings were tested too often. Try again after `Retry-After` seconds.',
  'sso required': 'The account requires that people sign in with a provider. Passwords and links don’t work.',
  'provider not found': 'The account has no sign-in provider with this ID.',
  'provider not usable': 'There is no OpenID Connect provider at the address.',
  'provider unreachable': 'The sign-in provider can’t be reached.',
  'provider address forbidden':
    'The address of the sign-in provider is in a private network. The operator can allow it with `OUTGOING_NETWORKS`.',
  'provider exists': 'The account already has a sign-in provider with this issuer and client ID.',
  'provider failed': 'The visit to the sign-in provider can’t begin. The message says why.',
  'too many providers': 'The account has as many sign-in providers as allowed.',
  'too many provider requests':
    'Sign-in providers were requested too often. Try again after `Retry-After` seconds.',
  'invalid domain': 'Not a domain such as example.com.',
  'domains needed': 'Trusting addresses and creating people require a list of domains.',
  'role values needed': 'A role claim requires at least one value, each only once.',
  'last provider': 'Single sign-on is required, and this is the only provider that is turned on.',
  'no provider': 'Requiring single sign-on requires a provider that is turned on.',
  'not an administrator': 'Only active administrators can be break-glass administrators.',
  'break-glass not ready': 'A break-glass administrator needs a password and two-factor authentication.',
  'break-glass needed': 'Requiring single sign-on requires a break-glass administrator.',
  'own sign-in': 'You would be locked out, because you signed in with a password.',
  'administrator locked out':
    'Another administrator would be locked out, without an identity at a provider and not as a break-glass administrator.',
  'break-glass administrator':
    'A break-glass administrator is not handed over to the directory (SCIM). Choose other ones first.',
  'last break-glass':
    'The last break-glass administrator of an account that requires single sign-on would lose the role, the account or the way to sign in.',
  'identity not found': 'The user has no identity at this provider.',
  'not by provider': 'The session began with a password, so a provider can’t confirm it.',
  'session not found': 'The session has already ended.',
  'link not found': 'The link is invalid, expired or already used.',

  'audit log changed':
    'The audit log does not contain the entry that was read earlier. Entries were changed or removed, or an older backup was restored.',
  'account not found': 'The account does not exist.',
  'token not found': 'The account has no token with this ID.',
  'person not found': 'The account has no person with this ID.',
  'own account':
    'You cannot remove, deactivate or hand over your own account, or give up your own Administrator role. Ask another administrator.',
  'role not pending': 'The role of the person is not waiting for confirmation.',
  'group not found': 'The account has no group with this ID.',
  'run not found': 'The account has no run with this ID.',
  'run not pending': 'The run is not pending. Only a pending run can be approved or rejected.',
  'week not found': 'No round was open in that week.',
  'no open week': 'No one is being asked: the week has closed, or no week is open.',
  'already answered':
    'The question was answered through another link or in another browser, or the answer is already part of live results. It cannot be changed here.',
  'secrets key missing':
    'The secrets key is missing on this server. Two-factor codes cannot be checked, and SFTP cannot start. See "soundings keys show".',
  'answer key missing':
    'The answer key is missing on this server. Rounds cannot open, and people cannot answer. See "soundings keys show".',
  'wrong key':
    'The text is not an exported key, or belongs to another installation or another time. The message says which.',
  'process not found': 'No process of the installation has this name.',
  'no links to hand out':
    'There are no links to hand out: everyone in the round gets a personal link by email.',
  'week closed': 'The week is closed. Its figures are published, and nothing can be added to it.',
  'schedule not found': 'The account has no schedule with this ID.',
  'question not found': 'The account has no question with this key or ID.',
  'question without value': `A KPI can only contain questions of types ${typesText(scaledTypes)}.`,
  'space at an end': 'A key or ID begins or ends with white space.',
  'invalid options': 'Choice questions need at least two options. Other question types cannot have options.',
  'option taken': 'Another option of the question has this ID.',
  'language taken': 'The translation is in the question’s own language.',
  'invalid url': 'Not a valid web address. It must begin with https:// or http://.',
  'same text': 'The schedule contains two questions with the same text, which count as one question.',
  'question retired': 'The schedule contains a question that is retired or does not exist.',
  'question changed':
    'An existing question keeps its type and options, and its text cannot change while a week that asks it is open.',
  'key taken': 'The account already has a question with this key, or a KPI with this ID.',
  'kpi not found': 'The account has no KPI with this ID.',
  'focus not found': 'The account has no focus with this ID, or the user may not see its group.',
  'focus not open': 'The focus is done or stopped, or is already open. The message says which.',
  'focus exists': 'The group already has an open focus on this KPI or question.',
  'too many focuses': 'The group has as many open focuses, or as much history, as it can have.',
  'nothing to ask': 'A schedule needs either questions or KPIs, and not both.',
  'invalid question count': 'The number of questions per round is zero or too high.',
  'too few at a time':
    'The schedule asks too few questions per round to ask every question of its KPIs within the chosen number of weeks.',
  'no groups': 'The schedule has no groups.',
  'date attribute not found':
    'The schedule chooses people by the date in an attribute that the account does not have.',
  'invalid date range':
    'The range of days in which a schedule asks people by a date is reversed, too long, or shorter than the time between two rounds.',
  'too few people':
    'The minimum number of people of a schedule that asks by a date is lower than the threshold of the account, or too high.',
  'no one to ask': 'The schedule excludes all of its groups, so it reaches no one.',
  'invalid interval': 'A number of weeks in the schedule is too low or too high.',
  'on a weekend': 'The schedule would send emails on a weekend, which it does not allow.',
  'at night': 'The schedule would send emails at night, which it does not allow.',
  'invalid day': formatTexts.en['invalid day'],
  'ends too early': 'The end date of the schedule is before its start date.',
  'invalid reminder': 'The reminder must come after the invitation, in the same week.',
  'already asked': 'The schedule has already asked its questions in this week.',
  'not asked': 'The questions of the schedule cannot be asked in this week. The message says why.',
  'template not found': 'There is no template with this ID.',
  'nothing due': 'No question of the schedule is due, so there is no email to send.',
  'no email': "You have no email address, so the email can't be sent.",
  'inactive person': 'An inactive person cannot sign in, so no sign-in link can be created.',
  'by email only':
    'Sign-in links for administrators are sent by email and not shown, because this installation can send email.',
  'no mail server': 'No mail server is configured: `SMTP_URL` is empty.',
  'no gateway': 'No gateway for text messages is configured: `SMS_PROVIDER` is empty.',
  'mail rejected': 'The mail server did not accept the email. The message contains its response.',
  'simulation not possible': 'The account or its schedules don’t allow a simulation. The message says why.',
  'invalid history': 'A line of a history file is invalid. The message says which one.',

  'file validation':
    'The file was rejected because of its name, type or size, or the way it was sent. The message says which.',
  'not downloadable': 'Files can be uploaded and listed, but not downloaded. You can read their reports.',
  'file not found': 'The account has no file with this name or ID.',
  'file not kept': 'The content of a refused file is not kept.',
  'mapping not found': 'The account has no column or value mapping with this ID.',
  'invalid country': 'Not a valid country code, such as SE.',
  'file not processed': 'The file could not be processed. The message says why.',
  'unreadable file': 'The content of the file cannot be read, or is larger than allowed.',
  'unknown layout':
    'No sheet of the file has the columns of users or groups, or there are no rows below them. For one sheet among several this is a warning.',
  'no group': 'Warning: the file creates people who are in no group.',
  'missing column': 'A sheet lacks a column that new people or groups require.',
  'repeated column':
    'Two columns of a sheet have the same meaning. In a file this is a warning that says which one is read; in a mapping it is an error.',
  'conflicting rows':
    'Two rows describe the same person or group but contradict each other. For the name of a group in a list of users this is a warning.',
  'unknown column': 'Warning: the column is unknown and is ignored.',
  'cell without header':
    'Warning: rows have values in a column without a header. They are ignored. In a CSV file, the values of these rows may be in the wrong columns.',
  'number as text':
    'Warning: an ID or phone number is stored in the file as a number, so leading zeros may be lost.',
  'unknown value':
    'Warning: a status, a role or a yes/no value is unknown. These cells count as empty until you map the values.',
  placeholder: 'Warning: cells contain only a placeholder, such as "-" or "n/a". They count as empty.',
  'ignored value':
    'Warning: cells of an optional column cannot be read. They are ignored, and existing values stay as they are.',
  'local number':
    'Warning: phone numbers have no country code, and the account has no default country. They are ignored.',
  'default country':
    'Warning: phone numbers have no country code. They are read as numbers of the account’s default country.',
  'group by name':
    'Warning: the file refers to groups by name instead of externalId. Each name matches exactly one group.',
  'ambiguous name':
    'The file refers to a group by a name that several groups have. Use the externalId instead. For a manager this is a warning, and the name is ignored.',
  'plan changed':
    'The changes of the pending run are out of date, or a newer file with the same name replaced its own. Send the file again.',

  managed: 'This is managed by your HR system. Change it there, or take it over first.',
  'changed since': 'Someone else has changed this since you opened it. Reload it and try again.',
  'attribute not found': 'The account has no attribute with this name.',
  'attribute taken': 'The account already has an attribute with this name.',
  'no cards to print': 'No card was created: none of the chosen people needs one, or there are too many.',
  'webhook not found': 'The account has no webhook endpoint with this ID.',
  'too many webhooks': 'The account has as many webhook endpoints as it can have.',
  'webhook turned off': 'The webhook endpoint is turned off, so nothing can be sent to it.',
  'day in the past': 'The token would already be expired when it is created. Choose a later day.',
  'pull not found': 'The account has no pull with this ID.',
  'too many pulls': 'The account has as many pulls as it can have.',
  'pull not tried': 'The pull can’t be turned on before its list has been read without errors in a dry run.',
  'pulls overlap':
    'Another pull of people is on. Each list is complete, so each pull would remove the people of the other.',
  'secret required': 'The secret must be entered again, because it would be sent to another host.',
  'too many fetches': 'Lists were requested too often. Try again after `Retry-After` seconds.',
  'delivery not found': 'The webhook endpoint has no delivery with this ID. Deliveries are kept for 30 days.',
  'too many test events': 'Test events were sent too often. Try again after `Retry-After` seconds.',
  'kiosk not found': 'The account has no kiosk with this ID.',
  'breakdown not found': 'The account has no breakdown with this ID.',
  'segment not found': 'The account has no segment with this ID.',
  'breakdown taken': 'The account already has an open breakdown with this name.',
  'schedule by date':
    'A schedule chooses people by the date in this attribute. Delete the schedule, or let it choose people in another way, first.',
  'breakdown open': 'An open breakdown uses this attribute. Close it first.',
  'breakdown combined': 'The breakdown is part of a combination. Close or remove the combination first.',
  'too many breakdowns': 'The account already has the maximum number of open breakdowns. Close one first.',
  'externalId taken': 'The account already has a user or group with this externalId.',
  'email taken': 'The account already has a user with this email address.',

  'invalid configuration': 'A setting of the installation is invalid. Nothing was started.',
  'database too new':
    'A newer version of Soundings has changed the database. This version cannot work with it.',
  'damaged backup': 'The file is not a complete backup. The message says where it is damaged.',
  'backup failed': 'A backup could not be created or read. The message says why and what to do.',
  'restore refused':
    'A backup can’t be restored into this installation or by this version. Nothing was changed.',
  'distribution refused':
    'The tables of the database can’t be distributed with Citus. Nothing was changed. The message says what is missing.',
  'data directory in use': 'Another Soundings service is running on the data directory.',
  'embedded database': 'The embedded database could not be started. The message says why and what to do.',
} as const;
export type DetailType = keyof typeof detailTypes;
