// Invitations and reminders: what they say, what they never say, and that no text in them can pass for something else.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { answeringLanguages } from '../../languages/languages.ts';
import { type Invitation, invitationOf, replacedNotice } from './invitation.ts';
import { anyCharacter, cases } from '../../testing/house/cases.ts';

const address = 'https://soundings.example/a/2pC8xQ7vKzR4mW1t0123456789A';
const optOutUrl = 'https://soundings.example/r/AAAAAQAAAAKx3vQ0Zk1h_4-Xn2m5PpTa';
const invitation: Invitation = {
  kind: 'invitation',
  language: 'en',
  company: 'Nordwind',
  firstName: 'Karin',
  questions: 3,
  threshold: 5,
  isLive: false,
};
const mailOf = (options: Partial<Invitation> = {}) =>
  invitationOf({ ...invitation, ...options }, address, optOutUrl);
const hrefsOf = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);

/** Languages, and whose texts they get. */
const spoken = [
  ...answeringLanguages.codes.map((language) => [language, language] as const),
  ['DE', 'de'] as const,
  ['nn', 'nb'] as const,
  ['is', 'en'] as const,
];

describe.each(spoken)('in the language %s', (language, own) => {
  const t = answeringLanguages.texts.in(own);
  const direction = own === 'ar' ? ' dir="rtl"' : '';

  test('company, number of questions and time are in subject, text and HTML', () => {
    for (const kind of ['invitation', 'reminder'] as const) {
      const { subject, text, html } = mailOf({ kind, language, questions: 13 });
      expect(html).toContain(`<html lang="${own}"${direction}>`);
      for (const part of [subject, text, html]) {
        expect(part).toContain('Nordwind');
        expect(part).toMatch(/(^|\D)13 \p{L}[^]*\D4\D/u);
      }
      for (const part of [text, html]) {
        expect(part).toContain('Karin');
        expect(part).toContain(t('mail.anonymous.lead'));
        expect(part).toMatch(/\D5\D/);
        expect(part).toContain(t('mail.personal'));
      }
    }
  });

  test('anonymity is not promised if answers are not anonymous, and the email says so', () => {
    const { text, html } = mailOf({ language, threshold: 1 });
    for (const part of [text, html]) {
      expect(part).toContain(t('mail.open.lead'));
      expect(part).not.toContain(t('mail.anonymous.lead'));
    }
  });

  test('one question is in the singular, and a person without a first name is not greeted by name', () => {
    const { subject, text } = mailOf({ language, questions: 1, firstName: '' });
    expect(`${subject} ${text.replaceAll(/https?:.*/g, '')}`).not.toMatch(/\b1\b/);
    expect(text.split('\n')[0]).toBe(t('mail.greeting'));
  });
});

test('each email has its own company, person and links, whatever was rendered before', () => {
  const one = ['Nordwind', 'Karin', `${address}1`, `${optOutUrl}1`] as const;
  const other = ['Südwind', 'Åsa', `${address}2`, `${optOutUrl}2`] as const;
  for (const [[company, firstName, link, optOut], others] of [
    [one, other],
    [other, one],
    [one, other],
  ] as const) {
    const { subject, text, html } = invitationOf({ ...invitation, company, firstName }, link, optOut);
    expect(subject).toContain(company);
    for (const part of [text, html]) {
      for (const own of [company, firstName, link, optOut]) expect(part).toContain(own);
      for (const foreign of others) expect(part).not.toContain(foreign);
    }
  }
});

test('the promise is in words that say the same in each language', () => {
  const lead = (language: string) => answeringLanguages.texts.in(language)('mail.anonymous.lead');
  const open = (language: string) => answeringLanguages.texts.in(language)('mail.open.lead');
  const said = {
    en: [/Soundings never shows who answered what/, /not anonymous/],
    sv: [/Soundings visar aldrig vem som har svarat vad/, /inte anonyma/],
    de: [/Soundings zeigt nie, wer was geantwortet hat/, /nicht anonym/],
    nb: [/Soundings viser aldri hvem som har svart hva/, /ikke anonyme/],
    da: [/Soundings viser aldrig, hvem der har svaret hvad/, /ikke anonyme/],
    fi: [/Soundings ei koskaan näytä, kuka on vastannut mitäkin/, /eivät ole anonyymejä/],
    pl: [/Soundings nigdy nie pokazuje, kto jak odpowiedział/, /nie są anonimowe/],
    fr: [/Soundings ne montre jamais qui a répondu quoi/, /ne sont pas anonymes/],
    es: [/Soundings nunca muestra quién respondió qué/, /no son anónimas/],
    nl: [/Soundings laat nooit zien wie wat heeft geantwoord/, /niet anoniem/],
    ar: [/لا يُظهر Soundings أبدًا مَن أجاب بماذا/, /ليست مجهولة المصدر/],
  };
  for (const [language, [promise, noPromise]] of Object.entries(said)) {
    expect(lead(language)).toMatch(promise as RegExp);
    expect(open(language)).toMatch(noPromise as RegExp);
  }
});

describe('a reminder', () => {
  test("says that managers don't see who has answered, but only if that is true", () => {
    for (const [language, promise] of [
      ['en', 'Managers can’t see who has answered.'],
      ['sv', 'Chefer kan inte se vem som har svarat.'],
      ['de', 'Führungskräfte erfahren nicht, wer geantwortet hat.'],
    ] as const) {
      const reminded = (threshold: number) => mailOf({ kind: 'reminder', language, threshold });
      for (const part of ['text', 'html'] as const) {
        expect(reminded(3)[part]).toContain(promise);
        expect(reminded(1)[part]).not.toContain(promise);
        expect(mailOf({ language })[part]).not.toContain(promise);
      }
    }
  });
});

test("a live week says that results are live and counted answers can't be changed, other weeks do not mention it", () => {
  for (const [language, live, counted] of [
    ['en', 'shown while the week is still open', 'can’t be changed'],
    ['sv', 'medan veckan fortfarande pågår', 'går inte att ändra'],
    ['de', 'während die Woche noch läuft', 'lassen sich nicht mehr ändern'],
  ] as const) {
    for (const kind of ['invitation', 'reminder'] as const) {
      for (const threshold of [1, 5]) {
        for (const part of ['text', 'html'] as const) {
          const mail = mailOf({ kind, language, threshold, isLive: true })[part];
          expect(mail).toContain(live);
          expect(mail).toContain(counted);
          expect(mailOf({ kind, language, threshold })[part]).not.toContain(live);
        }
      }
    }
  }
});

describe('the notice that a link was replaced', () => {
  test.each([
    ['en', 'Your survey link has been replaced', 'no longer works', 'HR department'],
    ['sv', 'Din enkätlänk har bytts ut', 'fungerar inte längre', 'HR-avdelning'],
    ['de', 'Dein Umfragelink wurde ersetzt', 'funktioniert nicht mehr', 'Personalabteilung'],
    ['fi', 'Kyselylinkkisi on vaihdettu', 'ei enää toimi', 'henkilöstöosastoon'],
    ['is', 'Your survey link has been replaced', 'no longer works', 'HR department'],
  ])('says in %s what happened and what to do, and contains no link', (language, heading, dead, ask) => {
    const { subject, text, html } = replacedNotice({ language, company: 'Nordwind', firstName: 'Karin' });
    expect(subject).toBe(heading);
    for (const part of [text, html]) {
      for (const line of ['Karin', 'Nordwind', dead, ask]) expect(part).toContain(line);
      expect(part).not.toMatch(/https?:\/\//);
    }
    expect(hrefsOf(html)).toEqual([]);
  });

  test('has no clickable text, whatever company and person are called', () => {
    const { text, html } = replacedNotice({
      language: 'en',
      company: '<a href="https://evil.example">x</a>',
      firstName: 'https://evil.example/login',
    });
    expect(hrefsOf(html)).toEqual([]);
    expect(text).not.toMatch(/:\/\/|evil\.example/);
  });
});

describe('the link to the page', () => {
  test('is a button, and the address stands on its own line for copying', () => {
    const { text, html } = mailOf();
    expect(text.split('\n')).toContain(address);
    expect(hrefsOf(html).slice(0, 2)).toEqual([address, address]);
    expect(html).toContain(`>${address}</a>`);
  });

  test('comes with a link to turn off survey emails, which mail programs can use with one click too', () => {
    for (const kind of ['invitation', 'reminder'] as const) {
      const { text, html, headers } = mailOf({ kind });
      expect(headers).toEqual({
        'List-Unsubscribe': `<${optOutUrl}?none>`,
        'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
      });
      expect(hrefsOf(html)).toEqual([address, address, optOutUrl]);
      expect(text.split('\n')).toContain(optOutUrl);
    }
  });
});

test("names of companies and people can't be clicked, hide nothing, and break no line", () => {
  const hostile = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 300 }),
    fc.constantFrom(
      '<a href="https://evil.example">x</a>',
      'https://evil.example/login',
      '"><script>1</script>',
      'a\r\nBcc: b@c.d',
      '\u202eabc',
      '\0\ud800',
      'محمد',
    ),
  );
  const options = fc.record({
    kind: fc.constantFrom<Invitation['kind'][]>('invitation', 'reminder'),
    language: fc.constantFrom('en', 'sv', 'de', 'ar', '"><b>'),
    company: hostile,
    firstName: hostile,
    questions: fc.integer({ min: 1, max: 50 }),
    threshold: fc.integer({ min: 1, max: 50 }),
    isLive: fc.boolean(),
  });
  const plain = mailOf({ kind: 'reminder' }).html.match(/<[a-z/!][^>]*>/g)?.length as number;
  fc.assert(
    fc.property(options, (chosen) => {
      const { subject, text, html } = mailOf(chosen);
      expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]|:\/\/|evil\.example/u);
      const line = text.replaceAll(address, '').replaceAll(optOutUrl, '').replaceAll(/\n/g, ' ');
      expect(line).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]|:\/\/|evil\.example/u);
      expect(new Set(hrefsOf(html)).isSubsetOf(new Set([address, optOutUrl]))).toBe(true);
      expect(html.match(/<[a-z/!][^>]*>/g)?.length).toBeLessThanOrEqual(plain);
      expect(Buffer.byteLength(html)).toBeLessThan(20_000);
    }),
    cases(200),
  );
});
