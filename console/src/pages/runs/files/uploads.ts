// Uploads files from the browser one after another, with their progress or error.
import { useRef, useState } from 'react';
import { upload } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';

export type FileUpload = {
  key: number;
  name: string;
  size: number;
  /** The progress, 0 to 1. */
  share: number;
  error?: unknown;
};

export type Uploads = {
  files: FileUpload[];
  send: (files: File[]) => void;
  dismiss: (key: number) => void;
};

/** Returns the running and failed uploads. Finished ones are in the list of files. */
export function useUploads(): Uploads {
  const refresh = useRefresh();
  const [files, setFiles] = useState<FileUpload[]>([]);
  const last = useRef({ key: 0, done: Promise.resolve() });
  const change = (key: number, to: Partial<FileUpload>) =>
    setFiles((all) => all.map((file) => (file.key === key ? { ...file, ...to } : file)));
  const dismiss = (key: number) => setFiles((all) => all.filter((file) => file.key !== key));

  async function uploadOne(key: number, file: File): Promise<void> {
    try {
      await upload(file.name, file, (share) => change(key, { share }));
      await refresh('GET /files');
      dismiss(key);
    } catch (error) {
      change(key, { error });
    }
  }
  function send(chosen: File[]): void {
    for (const file of chosen) {
      const key = ++last.current.key;
      setFiles((all) => [...all, { key, name: file.name, size: file.size, share: 0 }]);
      last.current.done = last.current.done.then(() => uploadOne(key, file));
    }
  }
  return { files, send, dismiss };
}
