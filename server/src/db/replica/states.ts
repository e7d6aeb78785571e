// What a replica can be like, and what to do about it. Pure.

/**
 * `unreachable`: it can't be read. `foreign`: it is not a copy of this database. `primary`: it isn't a replica, or not any more.
 */
export type ReplicaState = 'ok' | 'unreachable' | 'foreign' | 'primary';

/** `behind`: how many bytes of the primary server's log the replica has not replayed; undefined if that is not known. */
export type ReplicaFacts = { state: ReplicaState; behind: number | undefined };

/** What to do, in the words of the log and of `soundings doctor`. */
export const replicaRemedies: Record<Exclude<ReplicaState, 'ok'>, string> = {
  unreachable:
    'The replica at DATABASE_URL_READ can’t be read, so the primary server is read. Check that it runs, and that the address is right',
  foreign:
    'The server at DATABASE_URL_READ has another database than DATABASE_URL, so the primary server is read. Set it to a streaming replica of this database, or remove it',
  primary:
    'The server at DATABASE_URL_READ is not a replica, so the primary server is read. If it has taken over, set DATABASE_URL_READ to another replica, or remove it',
};
