// Saves files that are created here or fetched from the service. They are fetched by script, so that errors are shown on the page
// and don't replace it.
import { useState } from 'react';
import { download } from '../api.ts';
import { useErrorText } from './faults.ts';
import { useToast } from './floating/Toast.tsx';

/** How long browsers may take to read the file, in ms. */
const taken = 10_000;

/** Saves a file with the browser. */
export function save(name: string, file: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), taken);
}

/** `start(address)` fetches a file from the service and saves it. Errors are shown in a toast. */
export function useDownload(): { busy: boolean; start: (address: string) => Promise<void> } {
  const toast = useToast();
  const errorText = useErrorText();
  const [busy, setBusy] = useState(false);
  return {
    busy,
    async start(address) {
      if (busy) return;
      setBusy(true);
      try {
        const { name, file } = await download(address);
        save(name, file);
      } catch (error) {
        toast({ text: errorText(error), tone: 'bad' });
      } finally {
        setBusy(false);
      }
    },
  };
}
