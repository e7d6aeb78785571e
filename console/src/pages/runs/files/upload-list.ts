// The running and failed uploads of a page, and the order in which files are sent.

export type FileUpload = {
  key: number;
  name: string;
  size: number;
  /** The progress, 0 to 1. */
  share: number;
  error?: unknown;
};

type List = readonly FileUpload[];

export const withUpload = (uploads: List, key: number, { name, size }: { name: string; size: number }) => [
  ...uploads,
  { key, name, size, share: 0 },
];

export const withProgress = (uploads: List, key: number, share: number): FileUpload[] =>
  uploads.map((upload) => (upload.key === key ? { ...upload, share } : upload));

export const withError = (uploads: List, key: number, error: unknown): FileUpload[] =>
  uploads.map((upload) => (upload.key === key ? { ...upload, error } : upload));

export const without = (uploads: List, key: number): FileUpload[] =>
  uploads.filter((upload) => upload.key !== key);

/** Returns a function that runs a task when all tasks before it have ended, even if one of them has failed. */
export function oneAtATime(): (task: () => Promise<void>) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve();
  return (task) => {
    const run = last.then(task);
    last = run.catch(() => {});
    return run;
  };
}

/** Returns the size of a file; undefined for a refused upload, whose bytes are not stored. */
export const storedSizeText = (
  { isKept, size }: { isKept: boolean; size: number },
  bytes: (size: number) => string,
): string | undefined => (isKept ? bytes(size) : undefined);
