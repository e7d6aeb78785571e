// The words in which people are told of a file: English and Swedish. Pure. What others wrote comes in as it shall be read.
import type { DetailType } from '@soundings/contract/problem.ts';
import type { FileReport } from '@soundings/contract/storage.ts';

export type Language = 'en' | 'sv';
export type Entity = 'users' | 'groups';
export type Verb = 'created' | 'updated' | 'deleted';

export type Phrases = {
  /** As numbers and moments are written. */
  locale: string;
  number: (count: number) => string;
  label: Record<FileReport['outcome'], string>;
  title: Record<FileReport['outcome'], (file: string, faults: string) => string>;
  faults: (count: number, isMore: boolean) => string;
  warnings: (count: number) => string;
  count: (entity: Entity, count: number) => string;
  made: Record<Verb, string>;
  /** How far it goes beyond a limit, as a part of a sentence about the file. */
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
  /** Rows or values, some of them by name. */
  andMore: (named: string[], rest: number) => string;
  rows: (count: number) => string;
  ifMeant: string;
  ifNotMeant: string;
  raiseLimit: string;
  groupsGone: string;
  sendAgain: string;
  received: (moment: string, zone: string) => string;
  run: (id: string) => string;
  /** What becomes of values that can't be read. */
  ignored: string;
  automatic: string;
};

const english: Phrases = {
  locale: 'en-GB',
  number: (count) => count.toLocaleString('en-GB'),
  label: {
    waiting: 'Waiting',
    processing: 'Processing',
    applied: 'Applied',
    validated: 'Checked',
    refused: 'Faults',
    held: 'Held',
    failed: 'Failed',
  },
  title: {
    waiting: (file) => `${file} waits to be processed`,
    processing: (file) => `${file} is being processed`,
    applied: (file) => `${file} was applied`,
    validated: (file) => `${file} was checked and has no faults`,
    refused: (file, faults) => `${file} has ${faults}, so nothing was changed`,
    held: (file) => `${file} is held until somebody approves it`,
    failed: (file) => `${file} could not be processed, so nothing was changed`,
  },
  faults: (count, isMore) =>
    `${isMore ? 'more than ' : ''}${english.number(count)} ${count === 1 ? 'fault' : 'faults'}`,
  warnings: (count) => (count === 1 ? 'There is 1 warning.' : `There are ${english.number(count)} warnings.`),
  count: (entity, count) =>
    `${english.number(count)} ${{ users: ['person', 'people'], groups: ['group', 'groups'] }[entity][count === 1 ? 0 : 1]}`,
  made: { created: 'created', updated: 'updated', deleted: 'removed' },
  excess: (verb, what, limit) =>
    `it would ${{ created: 'create', updated: 'update', deleted: 'remove' }[verb]} ${what}, and your limit is ${limit}`,
  someExcess: 'it would change more than your limits allow',
  place: (sheet, row, column) =>
    inSentence([sheet && `sheet ${sheet}`, row && `row ${row}`, column && `column ${column}`]),
  entity: { users: 'People', groups: 'Groups' },
  figure: { created: 'Created', updated: 'Updated', deleted: 'Removed', unchanged: 'Unchanged' },
  head: { sheet: 'Sheet', row: 'Row', column: 'Column', value: 'Value', remedy: 'What to do' },
  heading: { wouldChange: 'What it would change', whatNow: 'What to do', noticed: 'What was noticed' },
  applied: 'These changes were made:',
  nothingToDo: 'Nothing had to be changed: everything was up to date.',
  onlyChecked: 'Nothing was changed, because this account only checks files.',
  nothingChanged: 'Nothing was changed.',
  correct: 'Correct the file, and send it again.',
  moreFaults: (count) =>
    `There are ${count} more faults. Those that are not listed here are in the report of the file.`,
  moreNotices: (count) => `And ${count} more.`,
  times: (count) => `${english.number(count)} times`,
  andMore: (named, rest) =>
    rest > 0 ? `${named.join(', ')} and ${english.number(rest)} more` : named.join(', '),
  rows: (count) => `${english.number(count)} ${count === 1 ? 'row' : 'rows'}`,
  ifMeant: 'If this is meant, whoever runs Soundings looks through the list of changes and approves it with:',
  ifNotMeant:
    'If it is not meant, correct the file and send it again. There is no need to call this one off.',
  raiseLimit: 'If this is meant, have the limit raised. If not, correct the file.',
  groupsGone: 'With a group that is removed, its past results are gone for good.',
  sendAgain:
    'Send it again. If that does not help, tell whoever runs Soundings, with the number of the run below.',
  received: (moment, zone) => `Received ${moment} (${zone})`,
  run: (id) => `Run ${id}`,
  ignored:
    'These cells can’t be read, and are ignored: what is there already stays as it is. The report of the file has their rows.',
  automatic: 'This mail was sent automatically, to the addresses that are to be told about files.',
};

const swedish: Phrases = {
  locale: 'sv-SE',
  number: (count) => count.toLocaleString('sv-SE'),
  label: {
    waiting: 'Väntar',
    processing: 'Behandlas',
    applied: 'Inläst',
    validated: 'Kontrollerad',
    refused: 'Fel',
    held: 'Stoppad',
    failed: 'Misslyckades',
  },
  title: {
    waiting: (file) => `${file} väntar på att behandlas`,
    processing: (file) => `${file} behandlas`,
    applied: (file) => `${file} har lästs in`,
    validated: (file) => `${file} har kontrollerats och har inga fel`,
    refused: (file, faults) => `${file} har ${faults}, så inget har ändrats`,
    held: (file) => `${file} är stoppad tills någon godkänner den`,
    failed: (file) => `${file} kunde inte behandlas, så inget har ändrats`,
  },
  faults: (count, isMore) => `${isMore ? 'fler än ' : ''}${swedish.number(count)} fel`,
  warnings: (count) => `${swedish.number(count)} ${count === 1 ? 'varning' : 'varningar'}.`,
  count: (entity, count) =>
    `${swedish.number(count)} ${{ users: ['person', 'personer'], groups: ['grupp', 'grupper'] }[entity][count === 1 ? 0 : 1]}`,
  made: { created: 'lades till', updated: 'ändrades', deleted: 'togs bort' },
  excess: (verb, what, limit) =>
    `den skulle ${{ created: 'lägga till', updated: 'ändra', deleted: 'ta bort' }[verb]} ${what}, och er gräns är ${limit}`,
  someExcess: 'den skulle ändra mer än era gränser tillåter',
  place: (sheet, row, column) =>
    inSentence([sheet && `blad ${sheet}`, row && `rad ${row}`, column && `kolumn ${column}`]),
  entity: { users: 'Personer', groups: 'Grupper' },
  figure: { created: 'Tillagda', updated: 'Ändrade', deleted: 'Borttagna', unchanged: 'Oförändrade' },
  head: { sheet: 'Blad', row: 'Rad', column: 'Kolumn', value: 'Värde', remedy: 'Att göra' },
  heading: { wouldChange: 'Vad den skulle ändra', whatNow: 'Att göra', noticed: 'Värt att veta' },
  applied: 'De här ändringarna gjordes:',
  nothingToDo: 'Inget behövde ändras: allt stämde redan.',
  onlyChecked: 'Inget har ändrats, eftersom kontot bara kontrollerar filer.',
  nothingChanged: 'Inget har ändrats.',
  correct: 'Rätta filen och skicka den igen.',
  moreFaults: (count) => `Det finns ${count} fel till. De som inte står här finns i filens rapport.`,
  moreNotices: (count) => `Och ${count} till.`,
  times: (count) => `${swedish.number(count)} gånger`,
  andMore: (named, rest) =>
    rest > 0 ? `${named.join(', ')} och ${swedish.number(rest)} till` : named.join(', '),
  rows: (count) => `${swedish.number(count)} ${count === 1 ? 'rad' : 'rader'}`,
  ifMeant:
    'Om det är meningen går den som driver Soundings igenom listan över ändringar och godkänner den med:',
  ifNotMeant: 'Om det inte är meningen: rätta filen och skicka den igen. Den här behöver inte avbrytas.',
  raiseLimit: 'Om det är meningen, be att gränsen höjs. Rätta annars filen.',
  groupsGone: 'När en grupp tas bort försvinner dess tidigare resultat för gott.',
  sendAgain:
    'Om det inte hjälper att skicka den igen, hör av er till den som driver Soundings och uppge körningens nummer nedan.',
  received: (moment, zone) => `Mottagen ${moment} (${zone})`,
  run: (id) => `Körning ${id}`,
  ignored:
    'De här cellerna går inte att läsa och hoppas över: det som redan finns ändras inte. Raderna finns i filens rapport.',
  automatic: 'Det här mejlet skickades automatiskt, till dem som ska få veta vad som händer med filer.',
};

export const phrases: Record<Language, Phrases> = { en: english, sv: swedish };

/**
 * What a fault or warning means for somebody who has the file before them. Without English words of ours, the message of the
 * detail says what is needed, and says it to Swedish readers too, after theirs.
 */
type Remedy = {
  en?: string;
  sv: string;
  /** Says it all, also where no row is given. */
  isWhole?: true;
};

const remedies: Partial<Record<DetailType, Remedy>> = {
  'missing field': {
    en: 'Fill in this cell: it may not be empty.',
    sv: 'Fyll i cellen: den får inte vara tom.',
  },
  'invalid externalId': {
    en: 'An ID has 1 to 255 characters, and none that cannot be seen.',
    sv: 'Ett id har 1–255 tecken, och inga osynliga.',
  },
  'invalid email': {
    en: 'Write an address such as anna@example.com, or leave the cell empty.',
    sv: 'Skriv en adress som anna@example.com, eller lämna cellen tom.',
  },
  'invalid phone': {
    en: 'Write the number with its country code, such as +46701234567, or leave the cell empty.',
    sv: 'Skriv numret med landskod, som +46701234567, eller lämna cellen tom.',
  },
  'invalid timezone': {
    en: 'Write a time zone such as Europe/Stockholm, or leave the cell empty.',
    sv: 'Skriv en tidszon som Europe/Stockholm, eller lämna cellen tom.',
  },
  'invalid language': {
    en: 'Write a language as two letters, such as en or sv, or leave the cell empty.',
    sv: 'Skriv ett språk med två bokstäver, som sv eller en, eller lämna cellen tom.',
  },
  'made by hand': {
    en: 'Somebody has made one with this ID by hand, and no file changes those. Use another ID, or have that one removed.',
    sv: 'Någon har skapat en med detta id för hand, och sådana ändras inte av filer. Använd ett annat id, eller låt ta bort den.',
  },
  'unknown group': {
    en: 'There is no such group. Correct it, or send the group first.',
    sv: 'Gruppen finns inte. Rätta cellen, eller skicka gruppen först.',
  },
  'unknown parent': {
    en: 'There is no such group to be beneath. Correct it, or add the group to the file.',
    sv: 'Det finns ingen sådan grupp att ligga under. Rätta cellen, eller ta med gruppen i filen.',
  },
  'duplicate externalId': { sv: 'Samma id finns på en annan rad. Ta bort den ena.' },
  'duplicate email': { sv: 'Samma adress finns redan. Rätta den ena.' },
  'too long': { sv: 'Texten är för lång.' },
  'invalid text': { sv: 'Texten innehåller tecken som inte finns. Skriv den på nytt.', isWhole: true },
  'invalid value': { sv: 'Värdet går inte att använda.' },
  'out of range': { sv: 'Värdet är inte tillåtet.' },
  'value not allowed': { sv: 'Värdet är inte tillåtet.' },
  'unknown attribute': { sv: 'Uppgiften är inte definierad för kontot.' },
  'conflicting rows': { sv: 'Två rader om samma person eller grupp säger olika saker.' },
  cycle: { sv: 'Grupper ligger under sig själva. Ändra vad en av dem ligger under.' },
  'too deep': { sv: 'Gruppen ligger för många nivåer ned.' },
  'no administrator': {
    en: 'No active administrator would be left. Add one to the file, or have one made by hand.',
    sv: 'Ingen aktiv administratör skulle finnas kvar. Ta med en i filen, eller låt skapa en för hand.',
    isWhole: true,
  },
  'unreadable file': { sv: 'Filen går inte att läsa.' },
  'unknown layout': { sv: 'Filens kolumner går inte att tyda.' },
  'no group': { sv: 'Filen lägger till personer som inte är med i någon grupp.' },
  'missing column': { sv: 'En kolumn som behövs saknas.' },
  'repeated column': { sv: 'Två kolumner betyder samma sak, och en av dem läses.' },
  'unknown value': { sv: 'Kolumnen har okända värden. Ange vad de betyder.' },
  placeholder: { sv: 'Celler säger bara att det inte finns något värde. De räknas som tomma.' },
  'ignored value': { sv: 'Värden går inte att läsa och hoppas över. Det som redan finns ändras inte.' },
  'local number': { sv: 'Telefonnummer saknar landsnummer och läses inte. Ange kontots land.' },
  'default country': { sv: 'Telefonnummer saknar landsnummer och läses som nummer i kontots land.' },
  'group by name': { sv: 'Grupper anges med namn i stället för id.' },
  'ambiguous name': { sv: 'Flera har namnet. Ange id i stället.' },
  'file not processed': { sv: 'Filen kunde inte behandlas.' },
  'unknown column': {
    en: 'This column is not known, and was not read.',
    sv: 'Kolumnen är okänd och har inte lästs.',
    isWhole: true,
  },
  'number as text': {
    en: 'These are kept as numbers, so zeros at their beginning may be lost. Format the column as text, and fill it in anew.',
    sv: 'Uppgifterna är sparade som tal, så nollor i början kan ha fallit bort. Formatera kolumnen som text och fyll i den på nytt.',
    isWhole: true,
  },
  'moved up': { sv: 'En grupp som är skapad för hand flyttas upp, eftersom gruppen ovanför tas bort.' },
  'named twice': {
    en: 'A group is named twice; it counts once.',
    sv: 'En grupp är angiven två gånger; den räknas en gång.',
    isWhole: true,
  },
};

/** What to do about a fault, in words. */
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
