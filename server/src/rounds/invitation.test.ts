// The mails by which people are asked: what they say, what they never say, and that nothing in them is other than it seems.
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Invitation, invitationOf, replacedNotice } from './invitation.ts';

const address = 'https://soundings.example/a/2pC8xQ7vKzR4mW1t0123456789A';
const stopAddress = 'https://soundings.example/r/AAAAAQAAAAKx3vQ0Zk1h_4-Xn2m5PpTa';
const invitation: Invitation = {
  kind: 'invitation',
  language: 'en',
  company: 'Nordwind',
  firstName: 'Karin',
  questions: 3,
  threshold: 5,
  isLive: false,
};
const mailOf = (wishes: Partial<Invitation> = {}) =>
  invitationOf({ ...invitation, ...wishes }, address, stopAddress);
const hrefsOf = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href);

describe.each([
  ['en', 'en', 'about a minute', /No one is shown who answered what/, /not anonymous/, /forward/],
  [
    'sv',
    'sv',
    'ungefär en minut',
    /Ingen får se vem som har svarat vad/,
    /inte anonyma/,
    /Vidarebefordra inte/,
  ],
  [
    'DE',
    'de',
    'etwa eine Minute',
    /Niemandem wird gezeigt, wer was geantwortet hat/,
    /nicht anonym/,
    /nicht weiter/,
  ],
  ['fi', 'en', 'about a minute', /No one is shown who answered what/, /not anonymous/, /forward/],
])('to somebody who speaks %s', (language, spoken, time, promise, noPromise, personal) => {
  test('company, number of questions and time stand in subject, text and HTML, in that language', () => {
    for (const kind of ['invitation', 'reminder'] as const) {
      const { subject, text, html } = mailOf({ kind, language });
      expect(html).toContain(`<html lang="${spoken}">`);
      for (const said of [subject, text, html]) {
        expect(said).toContain('Nordwind');
        expect(said).toMatch(/(^|\D)3 \p{L}/u);
        expect(said).toContain(time);
      }
      for (const said of [text, html]) {
        expect(said).toContain('Karin');
        expect(said).toMatch(promise);
        expect(said).toMatch(/\D5\D/);
        expect(said).toMatch(personal);
      }
    }
  });

  test('nothing is promised where answers are not anonymous: that is said instead', () => {
    for (const said of Object.values(mailOf({ language, threshold: 1 }))
      .map(String)
      .slice(1, 3)) {
      expect(said).toMatch(noPromise);
      expect(said).not.toMatch(promise);
    }
  });

  test('one question is one, and nobody without a first name is greeted by it', () => {
    const { subject, text } = mailOf({ language, questions: 1, firstName: '' });
    expect(`${subject} ${text}`).not.toMatch(/\b1 |questions|frågor|Fragen/);
    expect(text.split('\n')[0]).toMatch(/^(Hi|Hej|Hallo)$/);
  });
});

describe('a reminder', () => {
  test('says of managers alone that they are not told who has answered, and says it only where it is so', () => {
    for (const [language, promise] of [
      ['en', 'Managers are not told who has answered.'],
      ['sv', 'Chefer får inte veta vem som har svarat.'],
      ['de', 'Führungskräfte erfahren nicht, wer geantwortet hat.'],
    ] as const) {
      const reminded = (threshold: number) => mailOf({ kind: 'reminder', language, threshold });
      for (const said of ['text', 'html'] as const) {
        expect(reminded(3)[said]).toContain(promise);
        expect(reminded(1)[said]).not.toContain(promise);
        expect(mailOf({ language })[said]).not.toContain(promise);
      }
    }
  });
});

test('a live week says so, and that what is counted cannot be changed; in any other, nothing of it is said', () => {
  for (const [language, live, counted] of [
    ['en', 'shown while the week is still open', 'can’t be changed'],
    ['sv', 'medan veckan fortfarande pågår', 'går inte att ändra'],
    ['de', 'während die Woche noch läuft', 'lassen sich nicht mehr ändern'],
  ] as const) {
    for (const kind of ['invitation', 'reminder'] as const) {
      for (const threshold of [1, 5]) {
        for (const said of ['text', 'html'] as const) {
          const mail = mailOf({ kind, language, threshold, isLive: true })[said];
          expect(mail).toContain(live);
          expect(mail).toContain(counted);
          expect(mailOf({ kind, language, threshold })[said]).not.toContain(live);
        }
      }
    }
  }
});

describe('the notice that a link was replaced', () => {
  test.each([
    ['en', 'Your survey link has been replaced', 'no longer works', 'HR department'],
    ['sv', 'Din enkätlänk har ersatts', 'fungerar inte längre', 'HR-avdelning'],
    ['de', 'Dein Umfragelink wurde ersetzt', 'funktioniert nicht mehr', 'Personalabteilung'],
    ['fi', 'Your survey link has been replaced', 'no longer works', 'HR department'],
  ])('says in %s what happened and what to do, and has no link at all', (language, heading, dead, ask) => {
    const { subject, text, html } = replacedNotice({ language, company: 'Nordwind', firstName: 'Karin' });
    expect(subject).toBe(heading);
    for (const said of [text, html]) {
      for (const words of ['Karin', 'Nordwind', dead, ask]) expect(said).toContain(words);
      expect(said).not.toMatch(/https?:\/\//);
    }
    expect(hrefsOf(html)).toEqual([]);
  });

  test('is text that cannot be clicked, whatever company and person are called', () => {
    const { text, html } = replacedNotice({
      language: 'en',
      company: '<a href="https://evil.example">x</a>',
      firstName: 'https://evil.example/login',
    });
    expect(hrefsOf(html)).toEqual([]);
    expect(text).not.toMatch(/:\/\/|evil\.example/);
  });
});

describe('the way to the page', () => {
  test('is a button, and the address on a line of its own to be copied', () => {
    const { text, html } = mailOf();
    expect(text.split('\n')).toContain(address);
    expect(hrefsOf(html)).toEqual([address, address]);
    expect(html).toContain(`>${address}</a>`);
  });

  test('stands in a reminder beside the way to stop reminders, by one click of the mail program too', () => {
    const { text, html, headers } = mailOf({ kind: 'reminder' });
    expect(headers).toEqual({
      'List-Unsubscribe': `<${stopAddress}>`,
      'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
    });
    expect(hrefsOf(html)).toEqual([address, address, stopAddress]);
    expect(text.split('\n')).toContain(stopAddress);
    expect(mailOf().headers).toEqual({});
  });
});

test('whatever company and person are called, it is text that cannot be clicked, hides nothing and breaks no line', () => {
  const hostile = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
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
  const wishes = fc.record({
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
    fc.property(wishes, (wished) => {
      const { subject, text, html } = mailOf(wished);
      expect(subject).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]|:\/\/|evil\.example/u);
      const words = text.replaceAll(address, '').replaceAll(stopAddress, '').replaceAll(/\n/g, ' ');
      expect(words).not.toMatch(/[\p{Cc}\u2028\u2029\u202a-\u202e]|:\/\/|evil\.example/u);
      expect(new Set(hrefsOf(html)).isSubsetOf(new Set([address, stopAddress]))).toBe(true);
      expect(html.match(/<[a-z/!][^>]*>/g)?.length).toBeLessThanOrEqual(plain);
      expect(Buffer.byteLength(html)).toBeLessThan(20_000);
    }),
    { numRuns: 200 },
  );
});
