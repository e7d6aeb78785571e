import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { needs } from '../../testing/processes/programs.ts';
import type { ReportData } from './report-data.ts';
import { reportFile, reportFiles } from './report-files.ts';
import { anyReport } from './reports.fixture.ts';

/** Runs a program of poppler on a PDF and returns what it prints. */
async function read(program: string, bytes: Uint8Array, ...options: string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'report-'));
  try {
    const path = join(folder, 'report.pdf');
    await writeFile(path, bytes);
    const end = program === 'pdftotext' ? ['-'] : [];
    return (await promisify(execFile)(program, [...options, path, ...end])).stdout;
  } finally {
    await rm(folder, { recursive: true });
  }
}
const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ').trim();

test('another program reads the texts of a PDF, in both languages, with all their letters', async (context) => {
  needs(context, 'pdftotext', 'poppler-utils');
  const newest = anyReport().comments.newest.map((one, i) =>
    i === 0 ? { ...one, text: 'Åh, öl & ärtor <b>"½"</b> \\ (sic) — Ελλάδα, Київ, Łódź' } : one,
  );
  const data = anyReport({
    company: 'Ångström & Söner',
    group: { id: 2, name: 'Café Örebro (Öst)' },
    comments: { total: 12, newest },
  });
  const texts = {
    en: ['Week 38, 2026', '389 of 474 people answered', 'How anonymity is kept', '77 ± 5', '−11'],
    sv: ['Vecka 38, 2026', '389 av 474 medarbetare svarade', 'Så skyddas anonymiteten'],
  };
  for (const [language, expected] of Object.entries(texts)) {
    const { bytes, name } = await reportFile(data, language);
    const text = oneLine(await read('pdftotext', bytes));
    const all = [
      ...expected,
      'Ångström & Söner',
      'Café Örebro (Öst)',
      'Åh, öl & ärtor <b>"½"</b> \\ (sic) — Ελλάδα, Київ, Łódź',
      'More feedback please □',
    ];
    for (const one of all) expect(text).toContain(one);
    expect(name).toBe(`${language === 'en' ? 'Report' : 'Rapport'} Café Örebro (Öst) 2026-W38.pdf`);
  }
});

test('a PDF is one A4 page, tagged, with a title, its language and embedded fonts', async (context) => {
  needs(context, 'pdfinfo', 'poppler-utils');
  const { bytes } = await reportFile(anyReport(), 'sv');
  const facts = await read('pdfinfo', bytes);
  expect(facts).toMatch(/Title: +Rapport för Kläder och skor, Malmö, Vecka 38, 2026/);
  expect(facts).toMatch(/Tagged: +yes/);
  expect(facts).toMatch(/Pages: +1\n/);
  expect(facts).toMatch(/\(A4\)/);
  expect(Buffer.from(bytes).toString('latin1')).toMatch(/\/Lang \(sv\)/);
  const structure = await read('pdfinfo', bytes, '-struct-text');
  expect(structure).toMatch(/H1[^"]*"Kläder och skor, Malmö"/);
  expect(structure).toMatch(/TR\s+TH:\s+\/Scope \/Row\s+"Leadership/);
  const fonts = (await read('pdffonts', bytes)).split('\n').slice(2, -1);
  expect(fonts).toHaveLength(2);
  for (const font of fonts) expect(font).toMatch(/Inter-\w+ .* yes yes yes /);
});

test('the same report on the same day is the same file, whatever was created before', async () => {
  const { bytes } = await reportFile(anyReport(), 'en');
  await reportFile(anyReport({ company: 'Other words' }), 'sv');
  const again = await reportFile(anyReport(), 'en');
  expect(Buffer.from(again.bytes).equals(bytes)).toBe(true);
  const later = await reportFile(anyReport({ day: '2026-09-23' }), 'en');
  expect(Buffer.from(later.bytes).equals(bytes)).toBe(false);
});

test('groups without results are listed, and groups with the same name have files with different names', async () => {
  async function* reports(): AsyncGenerator<ReportData> {
    yield anyReport({ group: { id: 1, name: 'A/B: "x"' } });
    yield anyReport({ group: { id: 2, name: 'a/b: "X"' } });
    const nothing = { findings: [], kpis: [], rates: [], questions: [], comments: { total: 0, newest: [] } };
    yield anyReport({ ...nothing, group: { id: 3, name: 'Silent' } });
  }
  const files = [];
  for await (const file of reportFiles(reports(), 'en')) files.push(file);
  expect(files.map(({ name }) => name)).toEqual([
    'Report A_B_ _x_ 2026-W38.pdf',
    'Report a_b_ _X_ 2026-W38 (2).pdf',
    'Groups without results.txt',
  ]);
  expect(Buffer.from(files[2]!.bytes).toString()).toContain('Nordwind › Butiker › Silent');
});
