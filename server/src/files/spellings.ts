// How the headers of columns are spelled, in English, Swedish and German, and what each means. Pure. docs/files.md lists
// them for whoever writes a file, and a test keeps the two in step.
import type { MembershipKind } from '@soundings/contract/organization.ts';

export type Kind = 'users' | 'groups';

/** What a column can give: a field of a user or group, or something from which fields are made. */
export type Field =
  | 'externalId'
  | 'firstName'
  | 'lastName'
  | 'email'
  | 'phone'
  | 'active'
  | 'timezone'
  | 'language'
  | 'role'
  | MembershipKind
  | 'name'
  | 'description'
  | 'parent'
  | 'groupName'
  | 'isManager'
  | 'manager'
  | 'attribute';

/** What a header can mean, before the headers beside it decide which field that is. */
export type Word = Field | 'employeeId' | 'id' | 'group' | 'groupId' | 'parentName';

/** A meaning of a header. Words for groups have a family and, as Department 2 has, a number; attributes have a name. */
export type Meaning = { word: Word; family: string; number: string; attribute?: string };

/** The headers of a kind of sheet by their keys: the very names of our fields, and what else is usual. */
export type Vocabulary = { own: ReadonlyMap<string, Meaning>; usual: ReadonlyMap<string, Meaning> };

export const ownFields: Readonly<Record<Kind, readonly Field[]>> = {
  users: [
    ...(['externalId', 'firstName', 'lastName', 'email', 'phone', 'active', 'timezone', 'language'] as const),
    ...(['role', 'memberOf', 'adminOf', 'inheritedAdminOf', 'interestOf'] as const),
  ],
  groups: ['externalId', 'name', 'description', 'parent'],
};

// Below, the words of a language are separated by commas.

type Words = { en: string; sv: string; de: string };
type Spelling = Words & { word: Word };

/** The headers of users, beside the names of our fields. */
export const userSpellings: readonly Spelling[] = [
  {
    word: 'employeeId',
    en: 'Employee ID, Employee number, Employee no, Employee nr, Employee code, Emp ID, Emp no, Personnel number, Personnel ID, Person ID, Staff ID, Staff number, Worker ID, User ID, Payroll number',
    sv: 'Anställningsnummer, Anställningsnr, Anställnings-ID, Anst nr, Anst ID, Medarbetar-ID, Medarbetarnummer, Användar-ID, Person-ID',
    de: 'Personalnummer, Personalnr, Personal-ID, Pers nr, Mitarbeiternummer, Mitarbeiternr, Mitarbeiter-ID, Benutzer-ID',
  },
  { word: 'id', en: 'ID', sv: '', de: '' },
  {
    word: 'firstName',
    en: 'First name, Given name, Forename',
    sv: 'Förnamn',
    de: 'Vorname',
  },
  {
    word: 'lastName',
    en: 'Last name, Surname, Family name',
    sv: 'Efternamn',
    de: 'Nachname, Familienname, Zuname',
  },
  {
    word: 'email',
    en: 'Email, Email address, Mail, Mail address, Work email, Business email',
    sv: 'E-post, E-postadress, Mejl, Mejladress, Mailadress',
    de: 'E-Mail, E-Mail-Adresse, Mailadresse',
  },
  {
    word: 'phone',
    en: 'Phone, Phone number, Telephone, Telephone number, Tel, Mobile, Mobile number, Mobile phone, Mobile phone number, Phone mobile, Cell, Cell phone, Cell phone number',
    sv: 'Telefon, Telefonnummer, Telefonnr, Mobil, Mobilnummer, Mobilnr, Mobiltelefon',
    de: 'Telefon, Telefonnummer, Mobil, Mobilnummer, Mobiltelefon, Handy, Handynummer, Rufnummer',
  },
  {
    word: 'active',
    en: 'Active, Is active, Status',
    sv: 'Aktiv, Är aktiv, Status',
    de: 'Aktiv, Ist aktiv, Status',
  },
  { word: 'timezone', en: 'Time zone', sv: 'Tidszon', de: 'Zeitzone' },
  {
    word: 'language',
    en: 'Language, Language code, Preferred language, Locale',
    sv: 'Språk, Språkkod',
    de: 'Sprache, Sprachcode',
  },
  { word: 'role', en: 'Role, User role', sv: 'Roll, Användarroll', de: 'Rolle, Benutzerrolle' },
  {
    word: 'memberOf',
    en: 'Member of, Groups, Departments, Teams, Units',
    sv: 'Medlem i, Grupper, Avdelningar, Enheter',
    de: 'Mitglied von, Gruppen, Abteilungen',
  },
  {
    word: 'adminOf',
    en: 'Admin of, Owner of, Manager of',
    sv: 'Ägare av, Ansvarig för, Chef för',
    de: 'Verantwortlich für, Leiter von',
  },
  {
    word: 'inheritedAdminOf',
    en: 'Inherited admin of, Administrator of',
    sv: 'Administratör för',
    de: 'Administrator von',
  },
  {
    word: 'interestOf',
    en: 'Interest of, Interest in, Reader of',
    sv: 'Intresse av, Läsrätt till',
    de: 'Interesse an, Leserecht für',
  },
  {
    word: 'isManager',
    en: 'Is manager, Is a manager, Is line manager, Is supervisor',
    sv: 'Är chef',
    de: 'Ist Vorgesetzter, Ist Vorgesetzte, Ist Führungskraft, Ist Leiter, Ist Chef, Ist Manager',
  },
];

/** The headers of groups, beside the names of our fields, and the words below. */
export const groupSpellings: readonly Spelling[] = [
  { word: 'id', en: 'ID', sv: '', de: '' },
  { word: 'name', en: 'Name', sv: 'Namn, Benämning', de: 'Name, Bezeichnung' },
  { word: 'description', en: 'Description', sv: 'Beskrivning', de: 'Beschreibung' },
];

/**
 * What groups are called. The word itself is an id, or a name where another column has the id; with an ending it is the
 * one or the other. Words of one family belong together: a name goes with the id of the same family.
 */
export const families: Readonly<Record<string, Words>> = {
  department: { en: 'Department, Dept', sv: 'Avdelning', de: 'Abteilung' },
  unit: {
    en: 'Unit, Org unit, Organization unit, Organizational unit, Organisation unit, Organisational unit, Business unit',
    sv: 'Enhet, Organisationsenhet',
    de: 'Einheit, Organisationseinheit',
  },
  team: { en: 'Team', sv: '', de: '' },
  group: { en: 'Group', sv: 'Grupp, Arbetsgrupp', de: 'Gruppe' },
  division: { en: 'Division', sv: '', de: 'Bereich' },
};

/** What joins a word of a family to its ending: Avdelning-s-ID, Gruppe-n-nummer. */
const joints = ['', 's', 'n'];
export const idEndings = 'ID, external ID, number, no, nr, code, nummer, kod, kennung';
export const nameEndings = 'name, namn, bezeichnung, benämning';

/** What stands before a word of a family, or before such an ending, to mean the group above. */
export const parentWords =
  'Parent, Superior, Överordnad, Överordnat, Übergeordnet, Übergeordnete, Übergeordneter, Übergeordnetes';

/** Who manages a person or a group; with an ending, too. */
export const managerWords =
  'Manager, Managers, Line manager, Direct manager, Supervisor, Reports to, Head, ' +
  'Chef, Chefs, Chefens, Närmaste chef, Avdelningschef, Enhetschef, Rapporterar till, ' +
  'Vorgesetzter, Vorgesetzte, Vorgesetzten, Direkter Vorgesetzter, Führungskraft, Leiter, Leitung, Abteilungsleiter, ' +
  'Bereichsleiter, Teamleiter, Berichtet an';
export const managerEndings =
  'ID, external ID, number, no, nr, employee ID, employee number, anställningsnummer, personalnummer, ' +
  'email, email address, e-post, e-postadress, mail, e-mail-adresse';

/** The words of a list, separated by commas. */
export const wordsIn = (list: string): string[] => (list === '' ? [] : list.split(', '));

/** What is compared of a header: its letters and digits, letter case and accents aside. */
export function keyOf(header: string): string {
  return header
    .replaceAll('#', 'number')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^\p{L}\p{N}]/gu, '');
}

/** The keys of a word; one with an umlaut may be written without dots, or with an e. */
function keysOf(word: string): string[] {
  const spelledOut = word.normalize('NFC').replace(/[äöü]/gi, (letter) => `${letter.normalize('NFD')[0]}e`);
  return [...new Set([keyOf(word), keyOf(spelledOut)])];
}

export const meaning = (word: Word, family = ''): Meaning => ({ word, family, number: '' });

type Keyed = { key: string; means: Meaning };

/** The endings, each with what it makes of a word for groups. */
const endings: Keyed[] = joints.flatMap((joint) => [
  ...wordsIn(idEndings)
    .flatMap(keysOf)
    .map((key) => ({ key: joint + key, means: meaning('groupId') })),
  ...wordsIn(nameEndings)
    .flatMap(keysOf)
    .map((key) => ({ key: joint + key, means: meaning('groupName') })),
]);

/** Every word for groups, alone and with each ending. */
const groupWords: Keyed[] = Object.entries(families).flatMap(([family, words]) =>
  keysIn(words).flatMap((key) => [
    { key, means: meaning('group', family) },
    ...endings.map((ending) => ({ key: key + ending.key, means: meaning(ending.means.word, family) })),
  ]),
);

/** Every word for managers, alone and with each ending. */
const managers: Keyed[] = wordsIn(managerWords)
  .flatMap(keysOf)
  .flatMap((key) => ['', ...wordsIn(managerEndings).flatMap(keysOf)].map((ending) => key + ending))
  .map((key) => ({ key, means: meaning('manager') }));

/** Every word for the group above, alone, before each word for groups, and before each ending. */
const parents: Keyed[] = wordsIn(parentWords)
  .flatMap(keysOf)
  .flatMap((parent) => [
    { key: parent, means: meaning('parent') },
    ...[...groupWords, ...endings].map(({ key, means }) => ({
      key: parent + key,
      means: meaning(means.word === 'groupName' ? 'parentName' : 'parent'),
    })),
  ]);

function keysIn({ en, sv, de }: Words): string[] {
  return [en, sv, de].flatMap(wordsIn).flatMap(keysOf);
}

function vocabularyOf(own: readonly Field[], spellings: readonly Spelling[], others: Keyed[]): Vocabulary {
  const spelled = spellings.flatMap(({ word, ...words }) =>
    keysIn(words).map((key) => ({ key, means: meaning(word) })),
  );
  return {
    own: new Map(own.map((field) => [keyOf(field), meaning(field)])),
    // Of what is there twice, the last stands: what is spelled out goes before what is put together.
    usual: new Map([...others, ...spelled].map(({ key, means }) => [key, means])),
  };
}

export const vocabularies: Readonly<Record<Kind, Vocabulary>> = {
  users: vocabularyOf(
    ownFields.users,
    // Name is the last name where it stands beside a Vorname.
    [...userSpellings, { word: 'name', en: 'Name', sv: '', de: '' }],
    [...managers, ...groupWords],
  ),
  groups: vocabularyOf(ownFields.groups, groupSpellings, [...managers, ...groupWords, ...parents]),
};
