// Checks facts about the disk: free space, and the right to write. Pure.
import { sizeText } from '../base/sizes.ts';
import type { DiskFacts } from './disk.ts';
import { type Finding, reportOn } from './findings.ts';

const { ok, warning, problem } = reportOn('disk');

/** What a directory is for, and below which free space there is a warning or a problem, in bytes. */
export type DiskUse = { setting: 'DATA_DIR' | 'TMPDIR' | 'BACKUP_DIR'; warnBelow: number; failBelow: number };

/** What DATA_DIR needs with the embedded database, or for keys only, and what the directory for temporary files needs. */
export const diskUses = {
  database: { setting: 'DATA_DIR', warnBelow: 5e9, failBelow: 1e9 },
  keys: { setting: 'DATA_DIR', warnBelow: 100e6, failBelow: 1e6 },
  temporary: { setting: 'TMPDIR', warnBelow: 500e6, failBelow: 50e6 },
} as const satisfies Record<string, DiskUse>;

/** Why a file can't be written, and what to do. `setting`: the setting of the directory. */
function writeText(code: string, setting: string): string {
  const other = `or set ${setting} to another directory.`;
  const texts: Record<string, string> = {
    ENOSPC: 'The disk is full. Free up space.',
    EDQUOT: 'The quota of this user is used up. Free up space, or raise the quota.',
    EROFS: `The file system is read-only. Mount it so that it can be written, ${other}`,
    EACCES: `This user has no permission. Give the directory to the user who runs the service, ${other}`,
    ENOTDIR: `It is not a directory. Remove the file, ${other}`,
  };
  return texts[code] ?? `The error is ${code}. Check the directory, ${other}`;
}

/** Checks a directory. */
export function checkDisk(facts: DiskFacts, { setting, warnBelow, failBelow }: DiskUse): Finding[] {
  const { path, examined, freeBytes, totalBytes, freeFiles, writeFault } = facts;
  const place = examined === path ? `${setting} (${path})` : `${examined} (for ${setting})`;
  const free = `${sizeText(freeBytes)} of ${sizeText(totalBytes)} are free in ${place}`;
  const space = () => {
    if (writeFault !== null)
      return problem('notWritable', `No file can be written to ${place}. ${writeText(writeFault, setting)}`);
    if (freeBytes < failBelow)
      return problem('full', `Only ${free}. Free up space: it needs at least ${sizeText(warnBelow)}.`);
    if (freeFiles !== null && freeFiles < 1000)
      return problem('noFiles', `Only ${freeFiles} files can still be created in ${place}. Delete some.`);
    if (freeBytes < warnBelow)
      return warning('space', `Only ${free}. It needs at least ${sizeText(warnBelow)}.`);
    return ok('space', `${free}.`);
  };
  return [space(), ...(setting === 'DATA_DIR' ? temporaryFinding(facts) : [])];
}

/** What is in DATA_DIR has to outlive a restart. */
function temporaryFinding({ path, isTemporary }: DiskFacts): Finding[] {
  if (!isTemporary) return [];
  return [
    warning(
      'temporary',
      `DATA_DIR (${path}) is in memory or in a container’s own file system, so the keys are lost with it, and so is the embedded database. Mount a persistent volume there.`,
    ),
  ];
}
