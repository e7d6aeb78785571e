// Checks what is waiting: jobs, files, invitations, and weeks that should have closed. Pure.
import { withNoun, durationText, type Finding, reportOn } from './findings.ts';
import type { JobFacts } from './jobs.sql.ts';
import type { WaitingWork } from './waiting.ts';

const { ok, warning, problem } = reportOn('jobs');

/** How long work may wait before it is reported, in seconds: the same times as for the warnings of the console. */
const late = { jobs: 15 * 60, files: 15 * 60, messages: 60 * 60 };

/** `jobs`: undefined before the first start. `lateWeeks`: how many weeks ended more than an hour ago and aren't closed. */
export type JobsState = { jobs: JobFacts | undefined; work: WaitingWork; lateWeeks: number };

export function checkJobs({ jobs, work, lateWeeks }: JobsState): Finding[] {
  if (!jobs) return [ok('none', 'There are no jobs before the first start.')];
  const { waiting, dead, processes } = jobs;
  const isStopped = processes === 0;
  const since = `The oldest of ${withNoun(waiting.count, 'waiting job')} has been due for ${durationText(waiting.oldestSeconds)}.`;
  return [
    isStopped
      ? warning(
          'stopped',
          `No service with the role all or worker is running, so nothing is sent, and no week opens or closes.${waiting.count > 0 ? ` ${since}` : ''} Start it.`,
        )
      : waiting.oldestSeconds > late.jobs
        ? problem('late', `${since} Look for errors in the log, and restart the service.`)
        : ok('running', `${withNoun(processes, 'service')} running. ${waiting.count} jobs are waiting.`),
    ...(dead > 0
      ? [
          warning(
            'dead',
            `${withNoun(dead, 'job')} failed too often and won’t be tried again. The log has the errors. They are removed after a week.`,
          ),
        ]
      : []),
    ...(isStopped ? [] : [...lateWork(work), ...lateWeekFinding(lateWeeks)]),
  ];
}

function lateWork({ files, messages, 'text messages': sms }: WaitingWork): Finding[] {
  const oldestMessage = Math.max(messages.oldestSeconds, sms.oldestSeconds);
  return [
    ...(files.oldestSeconds > late.files
      ? [
          warning(
            'oldFile',
            `An uploaded file has been waiting for ${durationText(files.oldestSeconds)}. Look for errors of “process files” in the log.`,
          ),
        ]
      : []),
    ...(oldestMessage > late.messages
      ? [
          warning(
            'oldMessage',
            `Invitations have been due for ${durationText(oldestMessage)}. Check the mail server and the gateway for text messages: run "soundings mail test" and "soundings sms test".`,
          ),
        ]
      : []),
  ];
}

const lateWeekFinding = (lateWeeks: number): Finding[] =>
  lateWeeks === 0
    ? []
    : [
        problem(
          'lateWeek',
          `${withNoun(lateWeeks, 'week')} ended more than an hour ago and ${lateWeeks === 1 ? 'is' : 'are'} not closed. See “The week did not close” in docs/operators/troubleshooting.md.`,
        ),
      ];
