// The kept data sets in the repository: one for each release, with the responses that the data interface of its program had.
import { readdirSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gunzip, gzip } from 'node:zlib';
import type { Company } from './company.ts';
import type { Responses } from './data-requests.ts';

/** With a token for plain numbers, and with one for quoted numbers. */
type Recording = { plain: Responses; quoted: Responses };

export type KeptSet = {
  about: {
    /** The program that created it, its last migration, and when it ran (ms). */
    commit: string;
    schema: string;
    at: number;
    company: Company;
    /** The files in the folder of the keys, in base64. */
    keys: Record<string, string>;
    /** The fingerprints of the host keys of SFTP. */
    hostKeys: string[];
  };
  /** The database while a week is open (dump.ts). */
  sql: string;
  /** What the data interface responded while that week was open, and after it had closed. */
  responses: { open: Recording; closed: Recording };
};

const folder = fileURLToPath(new URL('sets/', import.meta.url));

export const keptSets = (): string[] => readdirSync(folder).toSorted();

export async function readKeptSet(name: string): Promise<KeptSet> {
  const unpacked = async (file: string) =>
    (await promisify(gunzip)(await readFile(join(folder, name, file)))).toString();
  return {
    about: JSON.parse(await readFile(join(folder, name, 'about.json'), 'utf8')) as KeptSet['about'],
    sql: await unpacked('data.sql.gz'),
    responses: JSON.parse(await unpacked('responses.json.gz')) as KeptSet['responses'],
  };
}

export async function writeKeptSet(name: string, { about, sql, responses }: KeptSet): Promise<void> {
  await mkdir(join(folder, name), { recursive: true });
  const write = async (file: string, text: string) =>
    writeFile(join(folder, name, file), await promisify(gzip)(text, { level: 9 }));
  await writeFile(join(folder, name, 'about.json'), `${JSON.stringify(about, null, 2)}\n`);
  await write('data.sql.gz', sql);
  await write('responses.json.gz', JSON.stringify(responses));
}
