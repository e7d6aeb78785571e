// Fills an account only once for several runs of a benchmark, in a directory that is kept.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Service } from './service.ts';

/**
 * Returns what `fill` returns. In a directory that stays, it is called only if it has not been called before, and what it returned is read from a file
 * with this name.
 */
export async function filledOnce<T>(service: Service, name: string, fill: () => Promise<T>): Promise<T> {
  if (!service.kept) return fill();
  const path = join(service.dataDir, name);
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as T;
  const filled = await fill();
  writeFileSync(path, JSON.stringify(filled));
  return filled;
}
