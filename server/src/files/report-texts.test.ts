// The texts of file reports: the message, and the email in English and Swedish.
import type { Summary } from '@soundings/contract/organization.ts';
import { type Detail, detailTypes } from '@soundings/contract/problem.ts';
import { fileOutcomes } from '@soundings/contract/storage.ts';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter, cases } from '../testing/house/cases.ts';
import { remedyOf } from './catalogue.ts';
import { type ReportAccount, mailOf, reportMessageOf, type MailedFileReport } from './report-texts.ts';

const acme: ReportAccount = { id: 7, name: 'Acme', language: 'en', timezone: 'Europe/Stockholm' };
const runId = '0197a3c2-5b1e-7c44-9d3a-2f6b8c1d0e55';

function report(
  outcome: MailedFileReport['outcome'],
  more: Partial<MailedFileReport> = {},
): MailedFileReport {
  return {
    file: 'users.csv',
    receivedAt: '2026-11-20T01:15:03.000Z',
    outcome,
    runId,
    details: [],
    warnings: [],
    ...more,
  };
}

/** Returns a summary. Each list contains created, updated, deleted and unchanged. */
function summary(users: number[], groups: number[] = [0, 0, 0, 0]): Summary {
  const counts = ([created, updated, deleted, unchanged]: number[]) =>
    ({ created, updated, deleted, unchanged }) as Summary['users'];
  return { users: counts(users), groups: counts(groups) };
}

const excess = (setting: string, limit: number, count: number): Detail => ({
  type: 'limit exceeded',
  message: 'beyond',
  setting,
  limit,
  count,
});
const badEmail: Detail = {
  type: 'invalid email',
  message: '"anna@" is not an e-mail address such as anna@example.com.',
  row: 14,
  column: 'E-mail',
  value: 'anna@',
};
const faults = (count: number): Detail[] =>
  Array.from({ length: count }, (_, i) => ({ ...badEmail, row: i + 2, value: `value${i + 1}.` }));

const englishMail = (mailed: MailedFileReport) => mailOf(mailed, acme);
const swedishMail = (mailed: MailedFileReport) => mailOf(mailed, { ...acme, language: 'sv' });

describe('the message', () => {
  test.each<[string, MailedFileReport, string]>([
    [
      'what was changed',
      report('applied', { summary: summary([12, 3, 1, 184]) }),
      'users.csv was applied: 12 people created, 3 updated, 1 removed.',
    ],
    [
      'single changes in the singular',
      report('applied', { summary: summary([1, 0, 0, 0], [0, 0, 1, 0]) }),
      'users.csv was applied: 1 person created; 1 group removed.',
    ],
    [
      'large numbers with separators',
      report('applied', { summary: summary([0, 0, 0, 0], [12_345, 0, 0, 0]) }),
      'users.csv was applied: 12,345 groups created.',
    ],
    [
      'that nothing was changed, and the number of warnings',
      report('applied', { summary: summary([0, 0, 0, 200]), warnings: [badEmail] }),
      'users.csv was applied: no changes were needed. There is 1 warning.',
    ],
    [
      'what would be changed',
      report('validated', { summary: summary([0, 2, 0, 0]), warnings: [badEmail, badEmail] }),
      'Dry run of users.csv: no errors. Nothing was changed, because this account is set to check files only. ' +
        'Changes it would make: 2 people updated. There are 2 warnings.',
    ],
    [
      'why it waits for approval, and how to approve it',
      report('pending', { details: [excess('maxUsersDeleted', 200, 312)] }),
      'users.csv is awaiting approval: it would remove 312 people, but your limit is 200. Nothing was changed. Review the list of changes ' +
        `and approve it with \`npx soundings run approve --account 7 --id ${runId}\`, or send a corrected file.`,
    ],
    [
      'each exceeded limit',
      report('pending', {
        details: [excess('maxUsersCreated', 0, 1), excess('maxGroupsUpdated', 1_000, 2_000)],
      }),
      'users.csv is awaiting approval: it would create 1 person, but your limit is 0; it would update 2,000 groups, but your limit is ' +
        '1,000. Nothing was changed. Review the list of changes ' +
        `and approve it with \`npx soundings run approve --account 7 --id ${runId}\`, or send a corrected file.`,
    ],
    [
      'an error, its position and what to do',
      report('refused', { details: [badEmail] }),
      'users.csv has 1 error, so nothing was changed. Row 14, column E-mail: "anna@". Not a valid email address ' +
        '(for example, anna@example.com). Correct it, or leave the cell empty.',
    ],
    [
      'an error of the whole file with its own message',
      report('refused', {
        details: [{ type: 'unreadable file', message: 'It is protected with a password.' }],
      }),
      'users.csv has 1 error, so nothing was changed. It is protected with a password.',
    ],
    [
      'why it could not be processed',
      report('failed', { details: [{ type: 'file not processed', message: 'Send it again.' }] }),
      'users.csv could not be processed, so nothing was changed. Send it again.',
    ],
    ['that it waits', report('waiting'), 'users.csv is waiting to be processed.'],
  ])('says %s', (_, mailed, message) => {
    expect(reportMessageOf(mailed, acme.id)).toBe(message);
  });

  test('quotes up to three errors with their positions', () => {
    const message = reportMessageOf(report('refused', { details: faults(3) }), 7);
    expect(message).toMatch(
      /^users\.csv has 3 errors.*Row 2.*value1.*Row 3.*value2.*Row 4.*value3.*empty\.$/,
    );
  });

  test('groups more errors by their cause, with the number of rows for each value', () => {
    const unknown = (row: number, value: string): Detail => ({
      type: 'unknown group',
      message: 'm',
      row,
      column: 'Department',
      value,
    });
    const details = [
      ...faults(5),
      ...Array.from({ length: 31 }, (_, i) => unknown(i + 2, 'Line A')),
      unknown(40, 'Line B'),
    ];
    expect(reportMessageOf(report('refused', { details }), 7)).toBe(
      'users.csv has 37 errors, so nothing was changed. ' +
        'Column Department: 32 rows. "Line A" (31 rows), "Line B". This group does not exist. Correct the cell, or send the group first. ' +
        'Column E-mail: 5 rows. "value1.", "value2.", "value3." and 2 more. Not a valid email address (for example, anna@example.com). Correct it, or ' +
        'leave the cell empty. See the report for the full list.',
    );
    expect(reportMessageOf(report('refused', { details: details.slice(5, 36) }), 7)).toContain(
      'Column Department: 31 rows. "Line A". This group does not exist.',
    );
  });

  test('says that there are more errors than listed', () => {
    const more = [...faults(1000), { type: 'more', message: 'There are at least 9 more faults.' }];
    const message = reportMessageOf(report('refused', { details: more }), 7);
    expect(message).toContain('has more than 1,000 errors');
    expect(message).toMatch(/See the report for the full list\.$/);
  });
});

describe('the email', () => {
  test('has the file, its outcome and the account in its subject', () => {
    const subjects = fileOutcomes.map(
      (outcome) => englishMail(report(outcome, { details: faults(2) })).subject,
    );
    expect(subjects).toEqual([
      'users.csv is waiting to be processed – Acme',
      'users.csv is being processed – Acme',
      'Dry run of users.csv: no errors – Acme',
      'users.csv was applied – Acme',
      'users.csv has 2 errors, so nothing was changed – Acme',
      'users.csv is awaiting approval – Acme',
      'users.csv could not be processed, so nothing was changed – Acme',
    ]);
  });

  test('of an applied file contains the numbers of changes, and combines warnings of the same kind', () => {
    const number = (row: number): Detail => ({
      type: 'number as text',
      message: 'm',
      row,
      column: 'Id',
      value: '7',
    });
    const warnings = [number(2), number(3), { type: 'unknown column', message: 'm', column: 'Shoe' }];
    const { text, html } = englishMail(report('applied', { summary: summary([12, 3, 1, 1184]), warnings }));
    expect(text).toContain('People: Created 12 · Updated 3 · Removed 1 · Unchanged 1,184\n');
    expect(text).not.toContain('Groups');
    expect(text).toMatch(/\* Column Id \(2 times\): These values are stored as numbers/);
    expect(text).toContain('* Column Shoe: This column is unknown and was not read.');
    expect(html).toMatch(/<td[^>]*>People<\/td><td[^>]*>12<\/td>/);
  });

  test('lists ignored values of a column with their number of rows', () => {
    const ignored = (value: string, count: number): Detail => ({
      type: 'ignored value',
      message: 'm',
      row: 2,
      column: 'Phone',
      value,
      count,
    });
    const warnings = [ignored('ext. 12', 31), ignored('ask Anna', 1)];
    const mailed = report('applied', { summary: summary([1, 0, 0, 0]), warnings });
    expect(englishMail(mailed).text).toContain(
      '* Column Phone (32 rows): "ext. 12" (31 rows), "ask Anna". These cells can’t be read and are ignored. Existing values',
    );
    expect(swedishMail(mailed).text).toContain(
      '* Kolumn Phone (32 rader): "ext. 12" (31 rader), "ask Anna". De här cellerna går inte att läsa',
    );
  });

  test('of a file that waits for approval contains the limits, the numbers, the command and the effect of removed groups', () => {
    const mailed = report('pending', {
      summary: summary([0, 0, 312, 5], [0, 0, 1, 0]),
      details: [excess('maxUsersDeleted', 200, 312)],
    });
    const { text, html } = englishMail(mailed);
    for (const expected of [
      'It would remove 312 people, but your limit is 200. Nothing was changed.',
      `npx soundings run approve --account 7 --id ${runId}`,
      'Removing a group also permanently deletes its past results.',
      'correct the file and send it again',
    ]) {
      expect(text).toContain(expected);
      expect(html).toContain(expected);
    }
    expect(englishMail({ ...mailed, summary: summary([0, 0, 312, 5]) }).text).not.toContain('past results');
  });

  test('of a file with errors lists up to twenty with position, value and what to do', () => {
    const { text, html } = englishMail(report('refused', { details: faults(20) }));
    expect(text).toContain(
      '1. Row: 2 · Column: E-mail · Value: value1.\n   Not a valid email address (for example, anna@example.com). Correct it, or leave the cell empty.\n\n2. ',
    );
    expect(html.match(/value\d+\./g)).toHaveLength(20);
    expect(text.match(/value\d+\./g)).toHaveLength(20);
    expect(text).not.toContain('more errors');
  });

  test('groups more errors by their cause, and says how many are not listed', () => {
    const { text } = englishMail(report('refused', { details: faults(23) }));
    expect(text).toContain(
      '1. Row: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 13 more · Column: E-mail · Value: "value1.", ',
    );
    expect(text).toContain(
      '"value10." and 13 more\n   Not a valid email address (for example, anna@example.com)',
    );
    const others = Array.from({ length: 25 }, (_, i) => ({ ...badEmail, row: 2, column: `E-mail ${i}` }));
    expect(englishMail(report('refused', { details: others })).text).toContain('There are 5 more errors.');
  });

  test('has a column for sheets if the file has sheets, and no columns without values', () => {
    const { html } = englishMail(report('refused', { details: [{ ...badEmail, sheet: 'Staff' }] }));
    expect([...html.matchAll(/<th[^>]*>([^<]*)/g)].map(([, head]) => head)).toEqual([
      'Sheet',
      'Row',
      'Column',
      'Value',
      'What to do',
    ]);
    const whole = { type: 'unreadable file', message: 'It is protected with a password.' };
    expect(englishMail(report('refused', { details: [whole] })).text).toContain(
      '\n* It is protected with a password.\n',
    );
  });

  test('names an exceeded limit if files are only checked', () => {
    const { text } = englishMail(report('refused', { details: [excess('maxUsersDeleted', 200, 312)] }));
    expect(text).toContain(
      'It would remove 312 people, but your limit is 200. If this is intended, ask your server administrator for a higher limit.',
    );
  });

  test('contains the time in the time zone and language of the account, and the run', () => {
    expect(englishMail(report('applied')).text).toContain(
      'Received 20 November 2026 at 02:15 (Europe/Stockholm)\n',
    );
    expect(swedishMail(report('applied')).text).toContain(
      'Mottagen 20 november 2026 kl. 02:15 (Europe/Stockholm)\n',
    );
    expect(mailOf(report('applied'), { ...acme, timezone: 'Factory' }).text).toContain('01:15 (UTC)');
    expect(englishMail(report('applied')).text).toContain(runId);
  });
});

describe('the language of the account', () => {
  test('is used if it is Swedish, and otherwise English is used', () => {
    const mailed = report('refused', { details: [badEmail] });
    expect(swedishMail(mailed).subject).toBe('users.csv har 1 fel, så inget har ändrats – Acme');
    expect(swedishMail(mailed).text).toContain(
      'Rad: 14 · Kolumn: E-mail · Värde: anna@\n   Ingen giltig e-postadress (till exempel',
    );
    expect(swedishMail(mailed).html).toContain('<html lang="sv">');
    expect(mailOf(mailed, { ...acme, language: 'de' })).toEqual(englishMail(mailed));
  });

  test('is used throughout a Swedish mail, which contains English only in messages from elsewhere', () => {
    const pending = report('pending', {
      summary: summary([1, 0, 312, 1184], [0, 0, 1, 0]),
      details: [excess('maxUsersDeleted', 200, 312)],
    });
    expect(swedishMail(pending).text).toContain(
      'Filen skulle ta bort 312 medarbetare, men er gräns är 200. Inget har ändrats.',
    );
    for (const outcome of fileOutcomes) {
      const { text } = swedishMail({ ...pending, outcome });
      expect(text).not.toMatch(/\b(the|and|is|was|file|people|row|what|nothing|received)\b/i);
    }
  });

  test('has a text for every error of a cell', () => {
    const cellFaults = Object.keys(detailTypes).filter((type) =>
      /^(missing field|invalid (externalId|email|phone|timezone|language)|unknown (group|parent)|manually created)$/.test(
        type,
      ),
    );
    expect(cellFaults).toHaveLength(9);
    for (const type of cellFaults) {
      const detail = { type, message: 'as the interface says it', row: 2 };
      expect(remedyOf(detail, 'en')).not.toContain('interface');
      expect(remedyOf(detail, 'sv')).not.toContain('interface');
    }
  });
});

describe('text from users and files', () => {
  const hostile = fc.oneof(
    fc.string({ unit: anyCharacter, maxLength: 60 }),
    fc.constantFrom(
      '<script>alert(1)</script>',
      '"><img src=x onerror=alert(1)>',
      '=HYPERLINK("http://evil.example/x","click")',
      '\u202egnp.exe',
      'line\r\nRow: 1 · all is well',
      'x'.repeat(10_000),
      '<'.repeat(10_000),
      '\u0301'.repeat(10_000),
      '🙂'.repeat(10_000),
      'שלום',
      "' style='display:none",
      '</td></table><h1>',
      '&lt;b&gt;',
    ),
  );
  const detail = fc.record(
    {
      type: fc.constantFrom(...Object.keys(detailTypes).filter((type) => type !== 'more')),
      message: hostile,
      sheet: hostile,
      row: fc.nat(),
      column: hostile,
      value: hostile,
      setting: fc.oneof(hostile, fc.constant('maxUsersDeleted')),
      limit: fc.nat(),
      count: fc.nat(),
    },
    { requiredKeys: ['type', 'message'] },
  );
  const anyReport = fc.record({
    outcome: fc.constantFrom(...fileOutcomes),
    file: hostile,
    details: fc.array(detail, { maxLength: 30 }),
    warnings: fc.array(detail, { maxLength: 30 }),
    summary: fc.constant(summary([1, 2, 3, 4], [5, 6, 7, 8])),
  });
  const anyAccount = fc.record({ name: hostile, language: fc.constantFrom('en', 'sv') });

  test('adds no tags, lines, text directions or links to an email, and the email stays under 20 KB', () => {
    const names = '!doctype|html|head|meta|title|style|body|div|table|tr|th|td|b|span|h1|h2|p|ul|li|br';
    const attributes =
      'html|lang|charset|name|content|class|style|role|width|cellpadding|cellspacing|border|bgcolor|align|valign|scope';
    const tag = new RegExp(`</?(?:${names})(?: (?:${attributes})(?:="[^"<>]*")?)*>`, 'g');
    fc.assert(
      fc.property(anyReport, anyAccount, (mailed, account) => {
        const { subject, text, html } = mailOf(report(mailed.outcome, mailed), { ...acme, ...account });
        expect(Buffer.byteLength(html)).toBeLessThan(20 * 1024);
        expect(subject).not.toMatch(/[\p{Cc}\u202a-\u202e]/u);
        expect(html).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066\u2067]/u);
        expect(text).not.toMatch(/[^\P{Cc}\n]|[\u202a-\u202e\u2066\u2067]/u);
        expect(html.replaceAll(tag, '')).not.toMatch(/[<>]/);
        expect(html).not.toMatch(/:\/\/|evil\.e/);
        expect(text).not.toMatch(/:\/\/|evil\.e|^Row: 1 · all/im);
        expect(html.match(/<h1/g)).toHaveLength(1);
      }),
      cases(40),
    );
  });

  test.each(['<', '"', '🙂', 'ש', 'a.b', '\u202e', 'x '])(
    'keeps an email under 20 KB, however often it contains %j',
    (text) => {
      const long = text.repeat(300);
      const details = Array.from({ length: 300 }, (_, row) => ({
        type: 'invalid value',
        message: long,
        sheet: long,
        row,
        column: `${row}${long}`,
        value: long,
      }));
      for (const language of ['en', 'sv']) {
        const account = { ...acme, name: long, language };
        const { html } = mailOf(report('refused', { file: long, details, warnings: details }), account);
        expect(Buffer.byteLength(html)).toBeLessThan(20 * 1024);
        expect(html).toContain('</table>');
      }
    },
  );

  test('keeps the message on one line of a few sentences without invisible characters', () => {
    fc.assert(
      fc.property(anyReport, (mailed) => {
        const message = reportMessageOf(report(mailed.outcome, mailed), 7);
        expect(message).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect([...message].length).toBeLessThan(3_000);
      }),
      cases(40),
    );
  });

  test('contains no one without an error in the file', () => {
    const changes = [{ entity: 'user', externalId: 'anna-ask', action: 'delete' }];
    const mailed = { ...report('pending', { summary: summary([0, 0, 1, 0]) }), changes };
    const { subject, text, html } = englishMail(mailed);
    expect(subject + text + html).not.toContain('anna-ask');
  });
});
