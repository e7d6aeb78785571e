// Checks, while SFTP sessions are open, whether their tokens are still valid.
import { setTimeout as sleep } from 'node:timers/promises';
import { stillValid } from '../accounts/sftp-callers.ts';
import { asFault } from '../db/db.ts';
import { checkMs, type Peer, type ServerState } from './connections.ts';

/**
 * Ends open sessions within a second when their token or address is no longer valid. While the database is unavailable, none is
 * ended: tokens can't be checked, but nothing can be uploaded either. Returns a function that stops the checks.
 */
export function checkTokens(state: Pick<ServerState, 'pool' | 'log' | 'peers'>): () => Promise<void> {
  let wasUnavailable = false;
  const stopping = new AbortController();
  async function check(): Promise<void> {
    const peers = [...state.peers].filter(({ caller }) => caller !== undefined);
    if (peers.length === 0) return;
    const verdicts = await stillValid(
      state.pool,
      peers.map(({ caller, address }) => ({ ...(caller as NonNullable<typeof caller>), address })),
    );
    for (const [i, verdict] of verdicts.entries()) {
      if (verdict === undefined) continue;
      const peer = peers[i] as Peer;
      const reason =
        verdict === 'token' ? 'token revoked, expired or without the required scope' : 'address not allowed';
      peer.log.info({ reason }, 'Ending SFTP connection');
      peer.socket.destroy();
    }
  }
  async function repeat(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await check();
        wasUnavailable = false;
      } catch (error) {
        if (!wasUnavailable)
          state.log.warn({ cause: asFault(error) }, "Tokens of open SFTP sessions can't be checked");
        wasUnavailable = true;
      }
      await sleep(checkMs, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }
  const running = repeat();
  return async () => {
    stopping.abort();
    await running;
  };
}
