// The one shape of every JSON error of every interface (§2.3, decision 4).
import { Type, type Static } from 'typebox';

export const Detail = Type.Object(
  {
    type: Type.String({ description: 'What kind of fault it is; a code listed in docs/errors.md.' }),
    message: Type.String({ description: 'What is wrong and what would be right, in words.' }),
    path: Type.Optional(
      Type.String({ description: 'The place: a JSON pointer into the body, or the name of a parameter.' }),
    ),
    externalId: Type.Optional(Type.String({ description: 'The user or group that the fault is about.' })),
    row: Type.Optional(Type.Integer({ description: 'The row of a file, counted from 1.' })),
    sheet: Type.Optional(Type.String({ description: 'The sheet of a file.' })),
    column: Type.Optional(Type.String({ description: 'The header of the column of a file.' })),
    value: Type.Optional(
      Type.String({ description: 'What stands in the cell of a file, or which of several values it is.' }),
    ),
    setting: Type.Optional(Type.String({ description: 'The setting whose limit is exceeded.' })),
    limit: Type.Optional(Type.Integer({ description: 'What the setting allows.' })),
    count: Type.Optional(Type.Integer({ description: 'What the request would do.' })),
  },
  { title: 'Detail' },
);
export type Detail = Static<typeof Detail>;

export const Problem = Type.Object(
  {
    id: Type.String({
      description: 'The id of the request: also in the x-request-id header and in the log.',
    }),
    message: Type.String({ description: 'What went wrong, in one sentence.' }),
    details: Type.Array(Detail, { description: 'Each fault that was found.' }),
  },
  { title: 'Problem', description: 'The body of every error.' },
);
export type Problem = Static<typeof Problem>;

/**
 * Every kind of fault and warning that an answer or the command can name, with its meaning; docs/errors.md is
 * written from it. A type is never given a second meaning.
 */
export const detailTypes = {
  'invalid token': 'The token is missing, unknown, expired or revoked.',
  'missing scope': 'The token is valid but lacks the scope of this interface.',
  'not found': 'There is nothing at this address.',
  'method not allowed': 'The address exists, but not for this method; `Allow` names the right ones.',
  'unsupported media type': 'The content type or encoding is not one that this address takes.',
  'too large': 'The body is larger than allowed, as sent or unpacked.',
  'too slow': 'The body of the request came too slowly.',
  'https required': 'The request came in plain HTTP over a network. Use the address that begins with https.',
  'bad request': 'The request breaks the rules of HTTP.',
  'too many requests':
    'The token has made all the requests that it has in a minute. Try again after `Retry-After`.',
  unavailable:
    'The service is starting, stopping, busy or without its database. Try again after `Retry-After`.',
  'internal error': 'A defect of Soundings. The id finds it in the log.',

  'unknown parameter': 'A query parameter that the operation does not have.',
  'repeated parameter': 'A query parameter that is given more than once.',
  'missing parameter': 'A query parameter that the operation needs is missing or empty.',
  'invalid parameter': 'A query parameter whose value is not one of those allowed.',

  'invalid gzip': 'The body is announced as gzip and is not.',
  'invalid utf-8': 'The body is not UTF-8.',
  'invalid json': 'The body is not JSON.',
  'duplicate key': 'An object of the body has the same key twice.',
  'invalid text': 'A text holds U+0000 or half of a surrogate pair.',
  'too deep': 'Arrays and objects of the body are nested too deep.',
  'too many values':
    'The body has more values (texts, numbers, objects, …) than allowed, one of its objects more keys, or a file names more groups.',

  'wrong type': 'A value is of the wrong JSON type. Nothing is converted: "false" is not false.',
  'missing field': 'A required field is missing.',
  'unknown field': 'A field that is not part of the description. In a user or group: a warning, and ignored.',
  'out of range': 'A number or a choice outside what is allowed.',
  'too long': 'A text longer than allowed.',
  'invalid externalId':
    'Not 1 to 255 characters, or with white space at its ends, or with control characters.',
  'invalid email': 'Not an e-mail address that mail can be delivered to.',
  'invalid phone': 'Not a number with country prefix (E.164).',
  'trunk zero':
    'Warning: a phone number has the zero that is dialled only within its country, as in +46 (0)70; it is dropped.',
  'invalid timezone': 'Not a name of the tz database.',
  'invalid language': 'Not an ISO 639-1 code.',
  'invalid threshold': 'A threshold so low that answers could be told, and not 1, which says so.',
  'invalid address range': 'Not an IP address, nor a range of them.',
  'invalid value': 'A value that is not allowed here; the message says what is.',
  'duplicate externalId': 'Two users, or two groups, with the same externalId.',
  'duplicate email': 'Two users with the same e-mail address, letter case aside.',
  'made by hand':
    'The externalId belongs to a user or group that was made by hand: those are never taken over.',
  'unknown group': 'A user names a group that does not exist, or that this request removes.',
  'unknown parent': 'A group names a parent that does not exist, or that this request removes.',
  cycle: 'A group would be beneath itself.',
  'unknown attribute': 'An attribute that is not defined on the account.',
  'value not allowed': 'A value that the attribute does not allow.',
  'no administrator': 'The request would leave the account without an active administrator.',
  'limit exceeded': 'The request would change more than a max* setting allows.',
  more: 'There are more faults or warnings than are listed; the message says how many.',

  'moved up': 'Warning: a group made by hand moves up, because the group above it is removed.',
  'new externalId':
    'Warning: a user who is removed and one who is new have the same e-mail address, or two groups the same name and parent. Perhaps they are one.',
  'history deleted': 'Warning: a group that is removed has results. They are deleted with it.',
  'administrator pending':
    'Warning: a user becomes an Administrator, or is one and gets another e-mail address. An administrator must confirm it in the console.',
  'roles ignored': 'Warning: roles were sent, but the account does not let pushes and files set them.',
  'named twice': 'Warning: a user names the same group twice in one list.',
  'auditor replaced':
    'Warning: the role that was sent replaces the role Auditor, which was given in the console. Leave the role out to keep it.',

  'not signed in': 'Nobody is signed in to the console, or the session has ended.',
  'missing role': 'Whoever is signed in to the console lacks the role for this.',
  'password needed':
    'What is asked of the console needs the password again: it was not given within the last ten minutes. Send it to `POST /session/proof`, and the request once more.',
  'foreign page': 'A request to the console that a page of another website has sent.',
  'wrong sign-in': 'The address and the password do not go together, or there is no such person.',
  'wrong code': 'The code of the second step is wrong, too old or used already.',
  'wrong password': 'The password, asked for once more, is not the right one.',
  'short password': 'A password that is too short.',
  'common password': 'A password among those that are tried first, or one of the same few characters.',
  'password of names': 'A password that is made of the name or the address of its person.',
  'too many tries': 'Signing in has failed too often. Try again after `Retry-After`.',
  'link not found': 'The link was used, has expired, or never was.',

  'account not found': 'There is no such account.',
  'token not found': 'The account has no such token.',
  'person not found': 'The account has no such person.',
  oneself:
    'Nobody can remove, deactivate or hand over oneself, or give up the role Administrator: another administrator can.',
  'group not found': 'The account has no such group.',
  'run not found': 'The account has no such run.',
  'run not held': 'Only a held run can be approved or rejected.',
  'week not found': 'Nothing was asked in that week.',
  'already answered':
    'The question was answered by another link or in another browser, or its answer is counted already: it cannot be changed here.',
  'secrets key missing':
    'The key of the secrets is missing here, so codes of two-factor authentication can’t be checked, and SFTP can’t start. See "soundings keys show".',
  'answer key missing':
    'The key of the open weeks is missing here, so nothing can be asked or answered. See "soundings keys show".',
  'no links to hand out': 'Everyone who is asked gets a personal link by e-mail.',
  'week closed': 'The week is closed: its figures are published, and nothing can be added to it.',
  'schedule not found': 'The account has no such schedule.',
  'question not found': 'The account has no such question.',
  'question without value': 'KPIs are made of questions of types 1 to 4 only.',
  'space at an end': 'A key or id has white space at one of its ends.',
  'invalid options': 'A question to choose from has at least two options, and no other has any.',
  'option taken': 'Another option of the question has this id.',
  'language taken': 'A translation is in the language of the text itself.',
  'invalid address': 'Not an address that begins with https:// or http://.',
  'same words': 'A schedule names two questions with the same words, which count as one question.',
  'question retired': 'A schedule names a question that is retired, or that there is not.',
  'question changed':
    'A question that is there keeps its type and options, and, while a week that asks it is open, its words.',
  'key taken': 'The account has a question with this key, or a KPI with this id, already.',
  'kpi not found': 'The account has no such KPI.',
  'missing name': 'A schedule has no name.',
  'nothing to ask': 'A schedule has neither questions nor KPIs to choose them from, or both.',
  'invalid question count': 'More questions at a time than a schedule may ask, or none.',
  'too few at a time': 'The questions of the KPIs of a schedule would not come round in time.',
  'no groups': 'A schedule does not say which groups it asks.',
  'nobody to ask': 'All of the groups of a schedule are beneath groups that it leaves out.',
  'invalid interval': 'A number of weeks of a schedule that is too low or too high.',
  'on a weekend': 'People would be written to on a weekend, and the schedule does not allow it.',
  'at night': 'People would be written to at night, and the schedule does not allow it.',
  'invalid day': 'Not a day such as 2026-11-23.',
  'ends too early': 'A schedule ends before it begins.',
  'invalid reminder': 'A reminder before the first message, or not in the same week.',
  'nothing due': 'No question of the schedule is due, so there is no mail of it.',
  'no address': 'Whoever asks for a mail has no e-mail address.',
  'inactive person': 'An inactive person cannot sign in, so gets no link to do so.',
  'by email only':
    'A link for an administrator is sent by email where the installation sends email, and not shown.',
  'no mail server': 'The installation has no mail server: `SMTP_URL` is not set.',
  'mail not taken': 'The mail server did not take the mail; the message says what it answered.',
  'invalid history': 'A line of a history file is not as it should be; the message names it.',

  'file validation':
    'A file that is not taken: its name, type or size, or how it was sent; the message says which.',
  'not downloadable': 'Files are uploaded and listed only. Their reports can be read.',
  'file not found': 'The account has no such file.',
  'mapping not found': 'The account has no such mapping of columns or of a value.',
  'invalid country': 'Not the code of a country, such as SE.',
  'file not processed': 'The file could not be processed; the message says why.',
  'unreadable file': 'The content of a file cannot be read, or is larger than allowed.',
  'unknown layout':
    'No sheet of a file has the columns of users or of groups, or no rows beneath them. Of a sheet among others: a warning.',
  'no group': 'A file creates people who are in no group. A warning.',
  'missing column': 'A sheet of a file has no column for what new people or groups need.',
  'repeated column':
    'Two columns of a sheet mean the same. Of a file a warning, which says which of them is read; of a mapping a fault.',
  'conflicting rows':
    'Two rows speak of the same person or group, and do not agree. Of the name of a group among users: a warning.',
  'unknown column': 'Warning: a column that is not known here; it is ignored.',
  'number as text':
    'Warning: an id or a phone number stands in the file as a number, so zeros at its beginning may be lost.',
  'unknown value':
    'Warning: a status, a role or a yes or no of a file that is not known. These cells count as empty until you map the values.',
  placeholder:
    'Warning: cells of a file only say that there is no value, such as "-" or "n/a". They count as empty.',
  'ignored value':
    "Warning: cells of an optional column of a file can't be read. They are ignored: what is there already stays as it is.",
  'local number':
    'Warning: phone numbers of a file have no country prefix, and the account has no default country. They are not read.',
  'default country':
    'Warning: phone numbers of a file have no country prefix. They are read as numbers of the default country of the account.',
  'group by name':
    'Warning: a file names groups by their names and not by their externalIds. Each is the only group with that name.',
  'ambiguous name':
    'A file names a group by a name that several have. Use the externalId instead. Of a manager it is a warning: the name is ignored.',
  'plan changed': 'What a held run would change is not what it was: send the file again.',

  managed: 'Pushes and files say what it is: it is changed where it comes from, or released first.',
  'changed since': 'Somebody has changed it since it was shown: look at it again.',
  'attribute not found': 'The account has no such attribute.',
  'attribute taken': 'The account has an attribute of this name already.',
  'externalId taken': 'The account has a user or group with this externalId already.',
  'email taken': 'The account has a user with this e-mail address already.',

  'invalid configuration': 'A setting of the installation is wrong; nothing was started.',
  'database too new':
    'A newer Soundings has changed the database in a way that this version cannot work with.',
  'data directory in use': 'Another Soundings service runs on the data directory.',
  'embedded database': 'The embedded database could not be started; the message says why and what to do.',
} as const;
export type DetailType = keyof typeof detailTypes;
