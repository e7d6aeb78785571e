// The known headers of columns in six languages, and what each means. Pure. docs/integrators/files.md lists them for users, and a test
// keeps the two in sync.
import type { MembershipKind } from '@soundings/contract/people/memberships.ts';

export type Kind = 'users' | 'groups';

/** What a column can contain: a field of a user or group, or a value that fields are derived from. */
export type Field =
  | 'externalId'
  | 'firstName'
  | 'lastName'
  | 'fullName'
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

/** What a header can mean on its own. The other headers then decide which field it is. */
export type HeaderMeaning = Field | 'employeeId' | 'id' | 'group' | 'groupId' | 'parentName';

/** The meaning of a header. Meanings of groups have a family and may have a number, as in Department 2; attributes have a name. */
export type Meaning = { name: HeaderMeaning; family: string; number: string; attribute?: string };

/** The headers of a kind of sheet by their keys: the names of our fields, and other usual names. */
export type Vocabulary = { own: ReadonlyMap<string, Meaning>; usual: ReadonlyMap<string, Meaning> };

export const ownFields: Readonly<Record<Kind, readonly Field[]>> = {
  users: [
    ...(['externalId', 'firstName', 'lastName', 'email', 'phone', 'active', 'timezone', 'language'] as const),
    ...(['role', 'memberOf', 'adminOf', 'inheritedAdminOf', 'interestOf'] as const),
  ],
  groups: ['externalId', 'name', 'description', 'parent'],
};

// In the lists below, commas separate the aliases.

/** Aliases by language. Norwegian, Danish and Finnish list only aliases that differ from those of the other languages. */
type Aliases = { en: string; sv: string; de: string; no?: string; da?: string; fi?: string };
type HeaderAliases = Aliases & { meaning: HeaderMeaning };

/** The headers of users, besides the names of our fields. */
export const userAliases: readonly HeaderAliases[] = [
  {
    meaning: 'employeeId',
    en: 'Employee ID, Employee number, Employee no, Employee nr, Employee code, Emp ID, Emp no, Personnel number, Personnel ID, Person ID, Staff ID, Staff number, Worker ID, User ID, Payroll number, Employee ID in company',
    sv: 'Anställningsnummer, Anställningsnr, Anställnings-ID, Anst nr, Anst ID, Medarbetar-ID, Medarbetarnummer, Användar-ID, Person-ID',
    de: 'Personalnummer, Personalnr, Personal-ID, Pers nr, Mitarbeiternummer, Mitarbeiternr, Mitarbeiter-ID, Benutzer-ID',
    no: 'Ansattnummer, Ansattnr, Ansatt-ID, Ans.nr, Ansattes nummer',
    da: 'Medarbejdernummer, Medarbejdernr, Medarbejder-ID, Lønnummer',
    fi: 'Henkilönumero, Henkilöstönumero, Työntekijänumero',
  },
  { meaning: 'id', en: 'ID', sv: '', de: '' },
  {
    meaning: 'firstName',
    en: 'First name, Given name, Forename, Legal name - first name',
    sv: 'Förnamn',
    de: 'Vorname',
    no: 'Fornavn',
    da: 'Fornavn',
    fi: 'Etunimi',
  },
  {
    meaning: 'lastName',
    en: 'Last name, Surname, Family name, Legal name - last name',
    sv: 'Efternamn',
    de: 'Nachname, Familienname, Zuname',
    no: 'Etternavn',
    da: 'Efternavn',
    fi: 'Sukunimi',
  },
  {
    meaning: 'fullName',
    en: 'Full name, Display name, Employee name, Worker name, First and last name, First name Last name, Last name First name',
    sv: 'Fullständigt namn, Hela namnet, För- och efternamn, Förnamn Efternamn, Efternamn Förnamn, Medarbetarens namn',
    de: 'Vollständiger Name, Vor- und Nachname, Vorname Nachname, Nachname Vorname, Name Vorname, Mitarbeitername',
    no: 'Fullt navn, Fornavn Etternavn, Etternavn Fornavn',
    da: 'Fulde navn, Fornavn Efternavn, Efternavn Fornavn',
    fi: 'Koko nimi, Etunimi Sukunimi, Sukunimi Etunimi',
  },
  {
    meaning: 'name',
    en: 'Name',
    sv: 'Namn',
    de: 'Name',
    no: 'Navn',
    da: 'Navn',
    fi: 'Nimi',
  },
  {
    meaning: 'email',
    en: 'Email, Email address, Mail, Mail address, Work email, Business email, Email - primary work, Primary work email',
    sv: 'E-post, E-postadress, Mejl, Mejladress, Mailadress',
    de: 'E-Mail, E-Mail-Adresse, Mailadresse',
    no: 'E-postadresse',
    da: 'E-mailadresse',
    fi: 'Sähköposti, Sähköpostiosoite',
  },
  {
    meaning: 'phone',
    en: 'Phone, Phone number, Telephone, Telephone number, Tel, Mobile, Mobile number, Mobile phone, Mobile phone number, Phone mobile, Cell, Cell phone, Cell phone number, Work phone, Business phone, Phone - primary work',
    sv: 'Telefon, Telefonnummer, Telefonnr, Mobil, Mobilnummer, Mobilnr, Mobiltelefon, Arbetstelefon',
    de: 'Telefon, Telefonnummer, Mobil, Mobilnummer, Mobiltelefon, Handy, Handynummer, Rufnummer',
    fi: 'Puhelin, Puhelinnumero, Matkapuhelin',
  },
  {
    meaning: 'active',
    en: 'Active, Is active, Status, Active status, Account enabled',
    sv: 'Aktiv, Är aktiv, Status',
    de: 'Aktiv, Ist aktiv, Status',
    fi: 'Aktiivinen',
  },
  {
    meaning: 'timezone',
    en: 'Time zone',
    sv: 'Tidszon',
    de: 'Zeitzone',
    no: 'Tidssone',
    da: 'Tidszone',
    fi: 'Aikavyöhyke',
  },
  {
    meaning: 'language',
    en: 'Language, Language code, Preferred language, Locale',
    sv: 'Språk, Språkkod',
    de: 'Sprache, Sprachcode',
    da: 'Sprog',
    fi: 'Kieli',
  },
  {
    meaning: 'role',
    en: 'Role, User role',
    sv: 'Roll, Användarroll',
    de: 'Rolle, Benutzerrolle',
    fi: 'Rooli',
  },
  {
    meaning: 'memberOf',
    en: 'Member of, Groups, Departments, Teams, Units',
    sv: 'Medlem i, Grupper, Avdelningar, Enheter',
    de: 'Mitglied von, Gruppen, Abteilungen',
  },
  {
    meaning: 'adminOf',
    en: 'Admin of, Owner of, Manager of',
    sv: 'Ägare av, Ansvarig för, Chef för',
    de: 'Verantwortlich für, Leiter von',
  },
  {
    meaning: 'inheritedAdminOf',
    en: 'Inherited admin of, Administrator of',
    sv: 'Administratör för',
    de: 'Administrator von',
  },
  {
    meaning: 'interestOf',
    en: 'Interest of, Interest in, Reader of',
    sv: 'Intresse av, Läsrätt till',
    de: 'Interesse an, Leserecht für',
  },
  {
    meaning: 'isManager',
    en: 'Is manager, Is a manager, Is line manager, Is supervisor',
    sv: 'Är chef',
    de: 'Ist Vorgesetzter, Ist Vorgesetzte, Ist Führungskraft, Ist Leiter, Ist Chef, Ist Manager',
    no: 'Er leder',
    da: 'Er leder',
    fi: 'On esihenkilö, On esimies',
  },
];

/** The headers of groups, besides the names of our fields and the aliases below. */
export const groupAliases: readonly HeaderAliases[] = [
  { meaning: 'id', en: 'ID', sv: '', de: '' },
  { meaning: 'name', en: 'Name', sv: 'Namn, Benämning', de: 'Name, Bezeichnung' },
  { meaning: 'description', en: 'Description', sv: 'Beskrivning', de: 'Beschreibung' },
];

/**
 * The aliases of groups. A column with one of these aliases contains ids, or names if another column has the ids. An ending
 * says which of the two it contains. A column of names belongs to the column of ids of the same family.
 */
export const families: Readonly<Record<string, Aliases>> = {
  department: {
    en: 'Department, Dept',
    sv: 'Avdelning',
    de: 'Abteilung',
    no: 'Avdeling',
    da: 'Afdeling',
    fi: 'Osasto',
  },
  unit: {
    en: 'Unit, Org unit, Organization unit, Organizational unit, Organisation unit, Organisational unit, Business unit, Supervisory organization',
    sv: 'Enhet, Organisationsenhet',
    de: 'Einheit, Organisationseinheit',
    no: 'Enhet, Organisasjonsenhet',
    da: 'Enhed, Organisationsenhed',
    fi: 'Yksikkö, Organisaatioyksikkö',
  },
  team: { en: 'Team', sv: '', de: '', fi: 'Tiimi' },
  group: { en: 'Group', sv: 'Grupp, Arbetsgrupp', de: 'Gruppe', fi: 'Ryhmä' },
  division: { en: 'Division', sv: '', de: 'Bereich' },
};

/** Letters between an alias and its ending: Avdelning-s-ID, Gruppe-n-nummer. */
const joints = ['', 's', 'n'];
export const idEndings = 'ID, external ID, number, no, nr, code, nummer, kod, kode, kennung, tunnus';
export const nameEndings = 'name, namn, navn, nimi, bezeichnung, benämning';

/** The aliases of the parent group, on their own or before an alias of groups or an ending. */
export const parentAliases =
  'Parent, Superior, Överordnad, Överordnat, Overordnet, Übergeordnet, Übergeordnete, Übergeordneter, Übergeordnetes';

/** The aliases of the manager of a person or group, with or without an ending. */
export const managerAliases =
  'Manager, Managers, Line manager, Direct manager, Supervisor, Reports to, Reporting to, ' +
  "Worker's manager, Head, " +
  'Chef, Chefs, Chefens, Närmaste chef, Avdelningschef, Enhetschef, Rapporterar till, ' +
  'Vorgesetzter, Vorgesetzte, Vorgesetzten, Direkter Vorgesetzter, Führungskraft, Leiter, Leitung, Abteilungsleiter, ' +
  'Bereichsleiter, Teamleiter, Berichtet an, ' +
  'Leder, Nærmeste leder, Esihenkilö, Esimies, Lähiesimies';
export const managerEndings =
  'ID, external ID, number, no, nr, employee ID, employee number, anställningsnummer, ansattnummer, personalnummer, ' +
  'email, email address, e-post, e-postadress, mail, e-mail-adresse';

/** Splits a list of aliases at the commas. */
export const aliasesIn = (list: string): string[] => (list === '' ? [] : list.split(', '));

/**
 * Returns the form in which headers are compared: letters and digits, in lower case and without accents. Drops square brackets
 * that programs add, as in Email [Required].
 */
export function keyOf(header: string): string {
  return header
    .replace(/(?<=\S)\s*\[[^\]]*\]\s*$/, '')
    .replaceAll('#', 'number')
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('æ', 'ae')
    .replaceAll('ø', 'o')
    .replace(/[^\p{L}\p{N}]/gu, '');
}

const lastNamesFirst = new Set(
  [
    'Last name First name, Efternamn Förnamn, Nachname Vorname, Name Vorname, Etternavn Fornavn, Efternavn Fornavn',
    'Sukunimi Etunimi',
  ]
    .flatMap(aliasesIn)
    .map(keyOf),
);

/** Whether the header of a column of full names says that the last name comes first. */
export const isLastFirst = (header: string): boolean => lastNamesFirst.has(keyOf(header));

/** Returns the keys of an alias. An umlaut or ø may be written without its dots or stroke, or with an e. */
function keysOf(alias: string): string[] {
  const spelledOut = alias.normalize('NFC').replace(/[äöüø]/gi, (letter) => `${keyOf(letter)}e`);
  return [...new Set([keyOf(alias), keyOf(spelledOut)])];
}

export const newMeaning = (name: HeaderMeaning, family = ''): Meaning => ({ name, family, number: '' });

type Keyed = { key: string; meaning: Meaning };

/** The endings, each with the meaning it gives to an alias of groups. */
const endings: Keyed[] = joints.flatMap((joint) => [
  ...aliasesIn(idEndings)
    .flatMap(keysOf)
    .map((key) => ({ key: joint + key, meaning: newMeaning('groupId') })),
  ...aliasesIn(nameEndings)
    .flatMap(keysOf)
    .map((key) => ({ key: joint + key, meaning: newMeaning('groupName') })),
]);

/** All headers of groups: each alias, alone and with each ending. */
const groupHeaders: Keyed[] = Object.entries(families).flatMap(([family, aliases]) =>
  keysIn(aliases).flatMap((key) => [
    { key, meaning: newMeaning('group', family) },
    ...endings.map((ending) => ({ key: key + ending.key, meaning: newMeaning(ending.meaning.name, family) })),
  ]),
);

/** All headers of managers: each alias, alone and with each ending. */
const managerHeaders: Keyed[] = aliasesIn(managerAliases)
  .flatMap(keysOf)
  .flatMap((key) => ['', ...aliasesIn(managerEndings).flatMap(keysOf)].map((ending) => key + ending))
  .map((key) => ({ key, meaning: newMeaning('manager') }));

/** All headers of the parent group: each alias, alone, before each header of groups, and before each ending. */
const parentHeaders: Keyed[] = aliasesIn(parentAliases)
  .flatMap(keysOf)
  .flatMap((parent) => [
    { key: parent, meaning: newMeaning('parent') },
    ...[...groupHeaders, ...endings].map(({ key, meaning }) => ({
      key: parent + key,
      meaning: newMeaning(meaning.name === 'groupName' ? 'parentName' : 'parent'),
    })),
  ]);

/** Returns the aliases of all languages. */
export function aliasesOf({ en, sv, de, no = '', da = '', fi = '' }: Aliases): string[] {
  return [en, sv, de, no, da, fi].flatMap(aliasesIn);
}

function keysIn(aliases: Aliases): string[] {
  return aliasesOf(aliases).flatMap(keysOf);
}

function vocabularyOf(own: readonly Field[], aliases: readonly HeaderAliases[], others: Keyed[]): Vocabulary {
  const listed = aliases.flatMap(({ meaning, ...ofMeaning }) =>
    keysIn(ofMeaning).map((key) => ({ key, meaning: newMeaning(meaning) })),
  );
  return {
    own: new Map(own.map((field) => [keyOf(field), newMeaning(field)])),
    // The last entry of a key wins, so aliases that are listed take precedence over combined ones.
    usual: new Map([...others, ...listed].map(({ key, meaning }) => [key, meaning])),
  };
}

export const vocabularies: Readonly<Record<Kind, Vocabulary>> = {
  users: vocabularyOf(ownFields.users, userAliases, [...managerHeaders, ...groupHeaders]),
  groups: vocabularyOf(ownFields.groups, groupAliases, [
    ...managerHeaders,
    ...groupHeaders,
    ...parentHeaders,
  ]),
};
