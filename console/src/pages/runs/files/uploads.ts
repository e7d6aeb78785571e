// Uploads files from the browser one after another, with their progress or error.
import { useRef, useState } from 'react';
import { upload } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { type FileUpload, oneAtATime, withError, without, withProgress, withUpload } from './upload-list.ts';

export type Uploads = {
  files: FileUpload[];
  send: (files: File[]) => void;
  dismiss: (key: number) => void;
};

/** Returns the running and failed uploads. Finished ones are in the list of files. */
export function useUploads(): Uploads {
  const refresh = useRefresh();
  const [files, setFiles] = useState<FileUpload[]>([]);
  const lastKey = useRef(0);
  const [inTurn] = useState(oneAtATime);
  const dismiss = (key: number) => setFiles((all) => without(all, key));

  async function uploadOne(key: number, file: File): Promise<void> {
    try {
      await upload(file.name, file, (share) => setFiles((all) => withProgress(all, key, share)));
      await refresh('GET /files');
      dismiss(key);
    } catch (error) {
      setFiles((all) => withError(all, key, error));
    }
  }
  function send(chosen: File[]): void {
    for (const file of chosen) {
      const key = ++lastKey.current;
      setFiles((all) => withUpload(all, key, file));
      void inTurn(() => uploadOne(key, file));
    }
  }
  return { files, send, dismiss };
}
