// Files that the browser saves: made here, or fetched of the service, so that a refusal is said on the page and not in its place.
import { useState } from 'react';
import { download } from '../api.ts';
import { useErrorWords } from './faults.ts';
import { useToast } from './Toast.tsx';

/** Milliseconds after which browsers have taken the file. */
const taken = 10_000;

/** Gives the browser a file to save. */
export function save(name: string, file: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), taken);
}

/** `start(address)` fetches a file of the service and saves it; what fails is said in a toast. */
export function useDownload(): { busy: boolean; start: (address: string) => Promise<void> } {
  const toast = useToast();
  const words = useErrorWords();
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
        toast({ text: words(error), tone: 'bad' });
      } finally {
        setBusy(false);
      }
    },
  };
}
