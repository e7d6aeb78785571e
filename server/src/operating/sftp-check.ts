// Checks SFTP: its port and its host keys. Also checks that the port for HTTP(S) can be used.
import type { HostKeyRow } from '../sftp/host-keys.sql.ts';
import { type Finding, reportOn } from './findings.ts';
import type { PortAnswer } from './ports.ts';

const sftp = reportOn('sftp');

export type PortState = {
  /** What responds on the port. */
  answer: PortAnswer;
  /** Why the port can't be used, if nothing responds on it; undefined: it can. */
  fault: string | undefined;
};

/** Returns what to do if the service can't listen on a port. */
function portProblem(setting: string, port: number, fault: string): string {
  if (fault === 'EADDRINUSE')
    return `Another program uses port ${port}. Stop it, or set ${setting} to another port.`;
  if (fault === 'EACCES')
    return `This user may not listen on port ${port}. Set ${setting} to a port above 1023, or allow it (AmbientCapabilities=CAP_NET_BIND_SERVICE in systemd).`;
  if (fault === 'EADDRNOTAVAIL')
    return 'This machine doesn’t have the address in HOST. Set HOST to an address that it has.';
  return `The service can’t listen on port ${port} (${fault}). Check HOST and ${setting}.`;
}

/** Checks the port for HTTP(S). `isOurs`: whether Soundings responds there. */
export function checkHttpPort(port: number, { answer, fault }: PortState, isOurs: boolean): Finding[] {
  const proxy = reportOn('proxy');
  if (answer !== 'refused')
    return isOurs
      ? [proxy.ok('port', `The service responds on port ${port}.`)]
      : [proxy.problem('portTaken', portProblem('PORT', port, 'EADDRINUSE'))];
  return fault === undefined
    ? [proxy.ok('portFree', `Port ${port} is free for the service.`)]
    : [proxy.problem('portFault', portProblem('PORT', port, fault))];
}

/** Checks the SFTP port. `port`: 0 if SFTP is turned off. */
export function checkSftpPort(
  port: number,
  { answer, fault }: PortState,
  isServiceRunning: boolean,
): Finding[] {
  if (port === 0) return [sftp.ok('off', 'SFTP is turned off (SFTP_PORT=0).')];
  if (answer === 'refused' && fault !== undefined)
    return [sftp.problem('portFault', portProblem('SFTP_PORT', port, fault))];
  if (answer === 'refused')
    return isServiceRunning
      ? [
          sftp.problem(
            'notListening',
            `The service is running, but SFTP doesn’t respond on port ${port}. The log says why: for example, because the secrets key is missing.`,
          ),
        ]
      : [sftp.ok('portFree', `Port ${port} is free for SFTP.`)];
  const isSsh = typeof answer === 'object' && answer.line.startsWith('SSH-2.0-');
  if (!isServiceRunning || !isSsh)
    return [sftp.problem('portTaken', portProblem('SFTP_PORT', port, 'EADDRINUSE'))];
  return [sftp.ok('listening', `SFTP responds on port ${port}.`)];
}

/** A host key: opened, damaged, or sealed with a secrets key that is not here. */
export type HostKeyState = { kind: HostKeyRow['kind']; state: 'ready' | 'damaged' | 'sealed' };

/** Checks the host keys. */
export function checkHostKeys(port: number, keys: readonly HostKeyState[]): Finding[] {
  if (port === 0) return [];
  const named = (state: HostKeyState['state']) =>
    keys.filter((one) => one.state === state).map(({ kind }) => kind);
  const [sealed, damaged] = [named('sealed'), named('damaged')];
  if (sealed.length > 0)
    return [
      sftp.problem(
        'hostKeysSealed',
        `The host keys (${sealed.join(', ')}) can’t be opened with the secrets key on this server, so SFTP doesn’t start. Import the right key with "soundings keys import".`,
      ),
    ];
  if (damaged.length > 0)
    return [
      sftp.warning(
        'hostKeysDamaged',
        `The host keys (${damaged.join(', ')}) are damaged. The next start replaces them, and clients have to accept the new ones.`,
      ),
    ];
  if (keys.length === 0)
    return [sftp.ok('noHostKeys', 'There are no host keys yet. The first start creates them.')];
  return [sftp.ok('hostKeys', `The host keys (${keys.map(({ kind }) => kind).join(', ')}) can be used.`)];
}
