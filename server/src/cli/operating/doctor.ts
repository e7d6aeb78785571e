// `soundings doctor`: checks the installation. It opens the database itself, because it also works if the database doesn't.
import type { ReadSettings } from '../../base/config.ts';
import type { Finding } from '../../operating/findings.ts';
import { type Command, table } from '../options.ts';

const outcomes = { ok: 'OK', warning: 'Warning', problem: 'Problem' };

export const doctorCommands = (settings: () => ReadSettings): Record<string, Command> => ({
  doctor: {
    usage:
      '\n    Checks this installation: settings, database, clock, disk, keys, certificate, proxy, email, SFTP and jobs. Says how to fix each\n' +
      '    problem. Changes nothing and sends no email. The exit status is 1 if there is a problem. Run it with the settings of the\n' +
      '    service, as the user who runs it.',
    options: {},
    // Imported here, because every other command would load it too.
    runAlone: async () => (await import('../../operating/doctor.ts')).examine(settings()),
    format: (findings: Finding[]) =>
      table(findings.map(({ outcome, check, text }) => [outcomes[outcome], check, text])),
    isFailure: (findings: Finding[]) => findings.some(({ outcome }) => outcome === 'problem'),
  },
});
