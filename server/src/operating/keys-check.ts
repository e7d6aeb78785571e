// Checks the keys: that they are here, open what is stored, and that only the service can read them.
import type { KeyFacts, KeyFileFacts } from '../sealing/key-facts.ts';
import { withNoun, type Finding, reportOn } from './findings.ts';

const { ok, warning, problem } = reportOn('keys');

/** Checks who can read the key files. `isRoot`: root can use files of other users, and the service may run as one of them. */
export function checkKeyFiles(files: readonly KeyFileFacts[], isRoot: boolean): Finding[] {
  return files.flatMap(({ path, mode, isForeign }) => {
    const shown = mode.toString(8).padStart(4, '0');
    return [
      ...((mode & 0o077) === 0
        ? []
        : [
            problem(
              'readable',
              `Other users can open ${path} (mode ${shown}). Run "chmod go= ${path}", and replace the key if someone may have copied it: see “Keys” in docs/operators/operations.md.`,
            ),
          ]),
      ...(isForeign && !isRoot
        ? [
            problem(
              'foreign',
              `${path} belongs to another user, so the service can’t replace the key. Run this command as the user who runs the service, or give the directory to that user.`,
            ),
          ]
        : []),
    ];
  });
}

/** Checks the keys themselves. */
export function checkKeys({ answers, secrets, openWeeks, outOfDate }: KeyFacts, place: string): Finding[] {
  return [
    ...answerKeyFindings({ answers, openWeeks }, place),
    ...(secrets === 'missing'
      ? [
          problem(
            'secretsMissing',
            'The secrets key is missing on this server, so two-factor codes can’t be checked and SFTP does not start. If another server has it, run "soundings keys export" there and "soundings keys import" here, or restore your copy of DATA_DIR/keys/secrets.',
          ),
        ]
      : []),
    ...(secrets === 'ready' ? [ok('secretsReady', `The secrets key is in ${place}.`)] : []),
    ...(outOfDate.length > 0
      ? [
          warning(
            'outOfDate',
            `Processes with an old copy of the answer key: ${outOfDate.join(', ')}. Start them, or delete their key files and run "soundings keys remove-process".`,
          ),
        ]
      : []),
    ...([answers, secrets].includes('moving')
      ? [warning('moving', 'ANSWER_KEYS has changed. The next start of the service replaces the keys.')]
      : []),
  ];
}

function answerKeyFindings(
  { answers, openWeeks: { count, lost } }: Pick<KeyFacts, 'answers' | 'openWeeks'>,
  place: string,
): Finding[] {
  if (answers === 'none') return [ok('none', 'There are no keys yet. The first start creates them.')];
  if (answers === 'missing' && count === 0)
    return [
      warning(
        'answersMissing',
        `The answer key is not in ${place}. No week is open, so the service creates a new one when it starts, at least ten minutes after the last other process has stopped.`,
      ),
    ];
  if (answers === 'missing')
    return [
      problem(
        'answersMissing',
        `The answer key is missing on this server, and ${withNoun(count, 'week')} can’t be answered or closed with results. If another server has it, run "soundings keys export" there and "soundings keys import" here. If it is lost, "soundings keys reset --yes" closes them without results.`,
      ),
    ];
  if (lost > 0)
    return [
      problem(
        'weeksLost',
        `The answer key in ${place} doesn’t open ${lost} of ${withNoun(count, 'open week')}, for example because an older database was restored. The service closes them without results when it starts. If you have the right key, import it before.`,
      ),
    ];
  const weeks = count === 0 ? 'No week is open.' : `It opens ${withNoun(count, 'open week')}.`;
  return [ok('answersReady', `The answer key is in ${place}. ${weeks}`)];
}
