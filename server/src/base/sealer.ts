// How parts seal secrets that the service must read again. The key is outside the database (sealing/secrets.ts).

/** `context` says which secret it is: what was sealed for one person or purpose opens for no other. */
export type Sealer = {
  /** Returns the sealed secret. Throws a Fault when the key is missing here. */
  seal(context: string, secret: Uint8Array): Promise<Buffer>;
  /** Returns the secret; undefined when it was sealed by a key that is lost, or for something else. Throws a Fault like `seal`. */
  open(context: string, sealed: Buffer): Promise<Buffer | undefined>;
};
