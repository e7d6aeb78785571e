// The texts of file reports and their mails, in English and Swedish. Pure. File names, values and other texts that users
// wrote are passed in already sanitized.
import type { DetailType } from '@soundings/contract/problem.ts';
import type { FileReport } from '@soundings/contract/storage.ts';

export type Language = 'en' | 'sv';
export type Entity = 'users' | 'groups';
export type Verb = 'created' | 'updated' | 'deleted';

export type ReportCatalogue = {
  /** The locale for numbers and dates. */
  locale: string;
  number: (count: number) => string;
  label: Record<FileReport['outcome'], string>;
  title: Record<FileReport['outcome'], (file: string, faults: string) => string>;
  faults: (count: number, isMore: boolean) => string;
  warnings: (count: number) => string;
  count: (entity: Entity, count: number) => string;
  made: Record<Verb, string>;
  /** Says by how much the file exceeds a limit, as part of a sentence about the file. */
  excess: (verb: Verb, what: string, limit: string) => string;
  someExcess: string;
  place: (sheet: string | undefined, row: string | undefined, column: string | undefined) => string;
  entity: Record<Entity, string>;
  figure: Record<Verb | 'unchanged', string>;
  head: Record<'sheet' | 'row' | 'column' | 'value' | 'remedy', string>;
  heading: Record<'wouldChange' | 'whatNow' | 'noticed', string>;
  applied: string;
  nothingToDo: string;
  onlyChecked: string;
  nothingChanged: string;
  correct: string;
  moreFaults: (count: string) => string;
  moreNotices: (count: string) => string;
  times: (count: number) => string;
  /** A list of rows or values, and how many are not listed. */
  andMore: (named: string[], rest: number) => string;
  rows: (count: number) => string;
  ifMeant: string;
  ifNotMeant: string;
  raiseLimit: string;
  groupsGone: string;
  sendAgain: string;
  received: (moment: string, zone: string) => string;
  run: (id: string) => string;
  /** What happens to cells that can't be read. */
  ignored: string;
  automatic: string;
};

const english: ReportCatalogue = {
  locale: 'en-GB',
  number: (count) => count.toLocaleString('en-GB'),
  label: {
    waiting: 'Waiting',
    processing: 'Processing',
    applied: 'Applied',
    validated: 'Checked',
    refused: 'Errors',
    held: 'Waiting for approval',
    failed: 'Failed',
  },
  title: {
    waiting: (file) => `${file} is waiting to be processed`,
    processing: (file) => `${file} is being processed`,
    applied: (file) => `${file} was applied`,
    validated: (file) => `${file} was checked and has no errors`,
    refused: (file, faults) => `${file} has ${faults}, so nothing was changed`,
    held: (file) => `${file} is waiting for approval`,
    failed: (file) => `${file} could not be processed, so nothing was changed`,
  },
  faults: (count, isMore) =>
    `${isMore ? 'more than ' : ''}${english.number(count)} ${count === 1 ? 'error' : 'errors'}`,
  warnings: (count) => (count === 1 ? 'There is 1 warning.' : `There are ${english.number(count)} warnings.`),
  count: (entity, count) =>
    `${english.number(count)} ${{ users: ['person', 'people'], groups: ['group', 'groups'] }[entity][count === 1 ? 0 : 1]}`,
  made: { created: 'created', updated: 'updated', deleted: 'removed' },
  excess: (verb, what, limit) =>
    `it would ${{ created: 'create', updated: 'update', deleted: 'remove' }[verb]} ${what}, but your limit is ${limit}`,
  someExcess: 'it would change more than your limits allow',
  place: (sheet, row, column) =>
    inSentence([sheet && `sheet ${sheet}`, row && `row ${row}`, column && `column ${column}`]),
  entity: { users: 'People', groups: 'Groups' },
  figure: { created: 'Created', updated: 'Updated', deleted: 'Removed', unchanged: 'Unchanged' },
  head: { sheet: 'Sheet', row: 'Row', column: 'Column', value: 'Value', remedy: 'What to do' },
  heading: { wouldChange: 'Changes it would make', whatNow: 'What to do', noticed: 'Warnings' },
  applied: 'These changes were made:',
  nothingToDo: 'No changes were needed. Everything was already up to date.',
  onlyChecked: 'Nothing was changed, because this account is set to check files only.',
  nothingChanged: 'Nothing was changed.',
  correct: 'Correct the file and send it again.',
  moreFaults: (count) => `There are ${count} more errors. See the file’s report for errors not listed here.`,
  moreNotices: (count) => `And ${count} more.`,
  times: (count) => `${english.number(count)} times`,
  andMore: (named, rest) =>
    rest > 0 ? `${named.join(', ')} and ${english.number(rest)} more` : named.join(', '),
  rows: (count) => `${english.number(count)} ${count === 1 ? 'row' : 'rows'}`,
  ifMeant:
    'If this is intended, your server administrator can review the list of changes and approve it with this command:',
  ifNotMeant:
    'If this is not intended, correct the file and send it again. You don’t need to cancel this one.',
  raiseLimit:
    'If this is intended, ask your server administrator for a higher limit. If not, correct the file.',
  groupsGone: 'Removing a group also permanently deletes its past results.',
  sendAgain:
    'Send it again. If that does not help, contact your server administrator and give the run number below.',
  received: (moment, zone) => `Received ${moment} (${zone})`,
  run: (id) => `Run ${id}`,
  ignored:
    'These cells can’t be read and are ignored. Existing values are kept. The file’s report lists the rows.',
  automatic: 'This email was sent automatically to the recipients of file notifications.',
};

const swedish: ReportCatalogue = {
  locale: 'sv-SE',
  number: (count) => count.toLocaleString('sv-SE'),
  label: {
    waiting: 'Väntar',
    processing: 'Behandlas',
    applied: 'Inläst',
    validated: 'Kontrollerad',
    refused: 'Fel',
    held: 'Väntar på godkännande',
    failed: 'Misslyckades',
  },
  title: {
    waiting: (file) => `${file} väntar på att behandlas`,
    processing: (file) => `${file} behandlas`,
    applied: (file) => `${file} har lästs in`,
    validated: (file) => `${file} har kontrollerats och har inga fel`,
    refused: (file, faults) => `${file} har ${faults}, så inget har ändrats`,
    held: (file) => `${file} väntar på godkännande`,
    failed: (file) => `${file} kunde inte behandlas, så inget har ändrats`,
  },
  faults: (count, isMore) => `${isMore ? 'fler än ' : ''}${swedish.number(count)} fel`,
  warnings: (count) => `${swedish.number(count)} ${count === 1 ? 'varning' : 'varningar'}.`,
  count: (entity, count) =>
    `${swedish.number(count)} ${{ users: ['person', 'personer'], groups: ['grupp', 'grupper'] }[entity][count === 1 ? 0 : 1]}`,
  made: { created: 'lades till', updated: 'ändrades', deleted: 'togs bort' },
  excess: (verb, what, limit) =>
    `filen skulle ${{ created: 'lägga till', updated: 'ändra', deleted: 'ta bort' }[verb]} ${what}, men er gräns är ${limit}`,
  someExcess: 'filen skulle ändra mer än era gränser tillåter',
  place: (sheet, row, column) =>
    inSentence([sheet && `blad ${sheet}`, row && `rad ${row}`, column && `kolumn ${column}`]),
  entity: { users: 'Personer', groups: 'Grupper' },
  figure: { created: 'Tillagda', updated: 'Ändrade', deleted: 'Borttagna', unchanged: 'Oförändrade' },
  head: { sheet: 'Blad', row: 'Rad', column: 'Kolumn', value: 'Värde', remedy: 'Att göra' },
  heading: { wouldChange: 'Ändringar som skulle göras', whatNow: 'Att göra', noticed: 'Varningar' },
  applied: 'De här ändringarna gjordes:',
  nothingToDo: 'Inget behövde ändras. Allt var redan aktuellt.',
  onlyChecked: 'Inget har ändrats, eftersom kontot är inställt på att bara kontrollera filer.',
  nothingChanged: 'Inget har ändrats.',
  correct: 'Rätta filen och skicka den igen.',
  moreFaults: (count) => `Det finns ${count} fel till. Fel som inte visas här finns i filens rapport.`,
  moreNotices: (count) => `Och ${count} till.`,
  times: (count) => `${swedish.number(count)} gånger`,
  andMore: (named, rest) =>
    rest > 0 ? `${named.join(', ')} och ${swedish.number(rest)} till` : named.join(', '),
  rows: (count) => `${swedish.number(count)} ${count === 1 ? 'rad' : 'rader'}`,
  ifMeant:
    'Om det är avsiktligt kan er serveradministratör granska ändringarna och godkänna dem med det här kommandot:',
  ifNotMeant:
    'Om det inte är avsiktligt: rätta filen och skicka den igen. Ni behöver inte avbryta den här filen.',
  raiseLimit: 'Om det är avsiktligt: be er serveradministratör att höja gränsen. Rätta annars filen.',
  groupsGone: 'När en grupp tas bort raderas också dess tidigare resultat permanent.',
  sendAgain:
    'Skicka filen igen. Om det inte hjälper: kontakta er serveradministratör och uppge körningens nummer nedan.',
  received: (moment, zone) => `Mottagen ${moment} (${zone})`,
  run: (id) => `Körning ${id}`,
  ignored:
    'De här cellerna går inte att läsa och hoppas över. Befintliga värden behålls. Raderna finns i filens rapport.',
  automatic: 'Det här mejlet skickades automatiskt till dem som får aviseringar om filer.',
};

export const reportCatalogue: Record<Language, ReportCatalogue> = { en: english, sv: swedish };

/**
 * What to do about an error or warning, for a reader who has the file open. Without an English text, English readers get the
 * message of the detail, and Swedish readers get it in parentheses after the Swedish text.
 */
type Remedy = {
  en?: string;
  sv: string;
  /** Replaces the message of the detail completely, even for a detail without a row. */
  isWhole?: true;
};

const remedies: Partial<Record<DetailType, Remedy>> = {
  'missing field': {
    en: 'This cell is required. Fill it in.',
    sv: 'Cellen måste ha ett värde. Fyll i den.',
  },
  'invalid externalId': {
    en: 'An ID must have 1 to 255 characters. Invisible characters are not allowed.',
    sv: 'Ett id ska ha 1–255 tecken. Osynliga tecken är inte tillåtna.',
  },
  'invalid email': {
    en: 'Enter an address such as anna@example.com, or leave the cell empty.',
    sv: 'Ange en adress som anna@example.com, eller lämna cellen tom.',
  },
  'invalid phone': {
    en: 'Enter the number with its country code, such as +46701234567, or leave the cell empty.',
    sv: 'Ange numret med landsnummer, som +46701234567, eller lämna cellen tom.',
  },
  'invalid timezone': {
    en: 'Enter a time zone such as Europe/Stockholm, or leave the cell empty.',
    sv: 'Ange en tidszon som Europe/Stockholm, eller lämna cellen tom.',
  },
  'invalid language': {
    en: 'Enter a two-letter language code such as en or sv, or leave the cell empty.',
    sv: 'Ange en språkkod med två bokstäver, som sv eller en, eller lämna cellen tom.',
  },
  'manually created': {
    en: 'A manually created person or group already has this ID, and files can’t change it. Use another ID, or delete that person or group first.',
    sv: 'En manuellt skapad person eller grupp har redan detta id och kan inte ändras av filer. Använd ett annat id, eller ta först bort personen eller gruppen.',
  },
  'unknown group': {
    en: 'This group does not exist. Correct the cell, or send the group first.',
    sv: 'Gruppen finns inte. Rätta cellen, eller skicka gruppen först.',
  },
  'unknown parent': {
    en: 'This parent group does not exist. Correct the cell, or add the group to the file.',
    sv: 'Den överordnade gruppen finns inte. Rätta cellen, eller lägg till gruppen i filen.',
  },
  'duplicate externalId': { sv: 'Samma id finns på en annan rad. Ta bort en av raderna.' },
  'duplicate email': { sv: 'Samma adress används redan. Ändra en av adresserna.' },
  'too long': { sv: 'Texten är för lång.' },
  'invalid text': { sv: 'Texten innehåller ogiltiga tecken. Skriv in den på nytt.', isWhole: true },
  'invalid value': { sv: 'Värdet är ogiltigt.' },
  'out of range': { sv: 'Värdet är inte tillåtet.' },
  'value not allowed': { sv: 'Värdet är inte tillåtet.' },
  'unknown attribute': { sv: 'Attributet är inte definierat för kontot.' },
  'conflicting rows': { sv: 'Två rader om samma person eller grupp har olika värden.' },
  cycle: {
    sv: 'Grupperna bildar en cirkel: en grupp ligger under sig själv. Ändra överordnad grupp för en av dem.',
  },
  'too deep': { sv: 'Gruppen ligger för djupt i hierarkin.' },
  'no administrator': {
    en: 'No active administrator would be left. Add one to the file, or create one manually.',
    sv: 'Ingen aktiv administratör skulle finnas kvar. Lägg till en i filen, eller skapa en manuellt.',
    isWhole: true,
  },
  'unreadable file': { sv: 'Filen går inte att läsa.' },
  'unknown layout': { sv: 'Filens kolumner känns inte igen.' },
  'no group': { sv: 'Filen lägger till personer som inte tillhör någon grupp.' },
  'missing column': { sv: 'En obligatorisk kolumn saknas.' },
  'repeated column': { sv: 'Flera kolumner betyder samma sak. Bara en av dem läses.' },
  'unknown value': { sv: 'Kolumnen har okända värden. Ange vad de betyder.' },
  placeholder: { sv: 'Celler innehåller bara en markering för saknat värde. De räknas som tomma.' },
  'ignored value': { sv: 'Värden går inte att läsa och hoppas över. Befintliga värden behålls.' },
  'local number': { sv: 'Telefonnummer saknar landsnummer och läses inte. Ange kontots standardland.' },
  'default country': { sv: 'Telefonnummer saknar landsnummer och tolkas som nummer i kontots standardland.' },
  'group by name': { sv: 'Grupper anges med namn i stället för id.' },
  'ambiguous name': { sv: 'Namnet är inte unikt. Ange id i stället.' },
  'file not processed': { sv: 'Filen kunde inte behandlas.' },
  'unknown column': {
    en: 'This column is unknown and was not read.',
    sv: 'Kolumnen är okänd och har inte lästs.',
    isWhole: true,
  },
  'number as text': {
    en: 'These values are stored as numbers, so leading zeros may be lost. Format the column as text and enter the values again.',
    sv: 'Värdena är sparade som tal, så inledande nollor kan ha gått förlorade. Formatera kolumnen som text och fyll i värdena igen.',
    isWhole: true,
  },
  'moved up': { sv: 'En manuellt skapad grupp flyttas upp, eftersom gruppen ovanför tas bort.' },
  'named twice': {
    en: 'A group is listed twice. It counts once.',
    sv: 'En grupp är angiven två gånger. Den räknas en gång.',
    isWhole: true,
  },
};

/** Returns what to do about an error or warning. */
export function remedyOf(
  { type, message, row }: { type: string; message: string; row?: number },
  language: Language,
): string {
  const remedy = remedies[type as DetailType];
  if (!remedy) return message;
  const isWhole = remedy.isWhole === true || (remedy.en !== undefined && row !== undefined);
  if (language === 'en') return isWhole ? (remedy.en ?? message) : message;
  return isWhole ? remedy.sv : `${remedy.sv} (${message})`;
}

const inSentence = (parts: (string | undefined)[]): string => {
  const place = parts.filter((part) => part).join(', ');
  return place.slice(0, 1).toUpperCase() + place.slice(1);
};
