// The code samples of the API reference work: they are run against a service, in each language that this machine has, and all of them are valid.
import { interfaceNames } from '@soundings/contract/openapi.ts';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openWorld, type TestAccount, type World } from '../../testing/world.ts';
import { codeSamples } from './code-samples.ts';
import { publishedDocuments } from './combined.ts';
import { type Example, readExamples } from './examples.ts';

const examples = readExamples();

let world: World;
let account: TestAccount;
let folder: string;
beforeAll(async () => {
  world = await openWorld();
  account = await world.account();
  folder = mkdtempSync(join(tmpdir(), 'soundings-samples-'));
  writeFileSync(join(folder, 'users.csv'), examples.operations['uploadFile']!.request.file!.text);
});
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** The program that runs a sample, and the name of its file. */
const programs: Record<string, [file: string, command: string, ...rest: string[]]> = {
  curl: ['sample.sh', 'bash', '-e'],
  TypeScript: ['sample.mts', process.execPath],
  Python: ['sample.py', 'python3'],
  'C#': ['sample.cs', 'dotnet', 'run'],
  Java: ['Sample.java', 'java', '-XX:TieredStopAtLevel=1'],
  PowerShell: ['sample.ps1', 'pwsh'],
};
/** Checks that a program is installed, with what its samples need. */
const checks: Record<string, string[]> = { Python: ['-c', 'import requests'] };

/** Runs the sample of an example in a language. Returns what it printed, or the reason why it can't run here. */
async function run(
  label: string,
  example: Example,
  bodyType?: string,
): Promise<{ printed: string } | { missing: string }> {
  const [file, command, ...rest] = programs[label]!;
  const check = spawnSync(command, checks[label] ?? ['--version']);
  if (check.error || check.status !== 0)
    return { missing: `${command} ${checks[label]?.at(-1) ?? ''}`.trim() };
  const sample = codeSamples(example, world.address, bodyType).find((one) => one.label === label)!;
  writeFileSync(join(folder, file), sample.source);
  const env = { PATH: process.env['PATH'], HOME: folder, SOUNDINGS_TOKEN: account.token };
  return new Promise((resolve, reject) => {
    execFile(command, [...rest, file], { cwd: folder, env }, (error, stdout, stderr) =>
      error ? reject(new Error(`${sample.source}\n${stdout}${stderr}`)) : resolve({ printed: stdout }),
    );
  });
}

/** Requests of each form: without a body, with JSON, a file, another type of body, and without a response body. What each prints. */
const runs: [operationId: string, bodyType: string | undefined, printed: RegExp][] = [
  ['getKpis', undefined, /\[/],
  ['getFeed', undefined, /metric,metricId/],
  ['postOrganization', 'application/json', /created\W+3\b/],
  ['uploadFile', undefined, /^users\.csv/m],
  ['createScimUser', 'application/scim+json', /ingrid\.berg@example\.com/],
];

describe.each(Object.keys(programs))('the samples in %s', (label) => {
  test('send the requests of the examples, and print the responses', async ({ skip }) => {
    for (const [operationId, bodyType, printed] of runs) {
      const example = examples.operations[operationId]!;
      const { request, response } = example;
      const isScim = operationId === 'createScimUser';
      // The same user can be created only once.
      const body = isScim ? withName(request.body, label.replace('#', 's')) : request.body;
      const path = request.path.replace(/\?metric.*/, '');
      const ran = await run(
        label,
        { ...example, request: { ...request, path, ...(body !== undefined && { body }) }, response },
        bodyType,
      );
      if ('missing' in ran) return skip(`SKIPPED: ${ran.missing} is missing`);
      expect(ran.printed).toMatch(isScim ? new RegExp(label.replace('#', 's').toLowerCase()) : printed);
    }
  });

  test('end with an error that shows the response if a request is refused', async ({ skip }) => {
    const example = examples.operations['getResults']!;
    const missing = { ...example, request: { ...example.request, path: '/v1/results?groupId=999999' } };
    const ran = await run(label, missing).catch((error: Error) => error.message);
    if (typeof ran !== 'string') {
      if ('missing' in ran) return skip(`SKIPPED: ${ran.missing} is missing`);
      throw new Error(`It did not fail: ${ran.printed}`);
    }
    expect(ran).toMatch(label === 'Python' ? /404/ : /group not found/);
  });
});

const withName = (body: unknown, name: string): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll('Ingrid', name).replaceAll('ingrid', name.toLowerCase()));

describe('every operation', () => {
  const operations = publishedDocuments(examples, 'https://soundings.example.com').flatMap(({ document }) =>
    Object.values((document as { paths?: Record<string, Record<string, Described>> }).paths ?? {}).flatMap(
      (methods) => Object.values(methods),
    ),
  );
  type Described = { operationId: string; 'x-codeSamples'?: { label: string; source: string }[] };

  test('has a sample in each language, except the one that is not supported', () => {
    expect(interfaceNames.length).toBeGreaterThan(4);
    const without = operations.filter((one) => !one['x-codeSamples']);
    expect(without.map(({ operationId }) => operationId)).toEqual(['getScimMe']);
    for (const one of operations.filter((other) => other['x-codeSamples']))
      expect(one['x-codeSamples']?.map(({ label }) => label)).toEqual(Object.keys(programs));
  });

  const samplesOf = (label: string) =>
    operations.flatMap((one) => (one['x-codeSamples'] ?? []).filter((sample) => sample.label === label));

  test('has valid TypeScript and shell', () => {
    for (const { source } of samplesOf('TypeScript'))
      expect(() => stripTypeScriptTypes(source)).not.toThrow();
    for (const { source } of samplesOf('curl')) {
      const { status, stderr } = spawnSync('bash', ['-n'], { input: source });
      expect([status, stderr.toString()]).toEqual([0, '']);
    }
  });

  test('has valid Python', ({ skip }) => {
    const program = 'import sys, json\nfor one in json.load(sys.stdin): compile(one, "sample", "exec")';
    const input = JSON.stringify(samplesOf('Python').map(({ source }) => source));
    const { error, status, stderr } = spawnSync('python3', ['-c', program], { input });
    if (error) skip('SKIPPED: python3 is missing');
    expect([status, stderr.toString()]).toEqual([0, '']);
  });
});
