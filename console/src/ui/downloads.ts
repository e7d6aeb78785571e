// Saves files that are created here or fetched from the service. They are fetched by script, so that errors are shown on the page
// and don't replace it.
import { download } from '../api.ts';
import { useOnce } from '../hooks/once.ts';

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

/** `start(address)` fetches a file from the service and saves it, once at a time. Errors are shown in a toast. */
export function useDownload(): { busy: boolean; start: (address: string) => void } {
  const { busy, once } = useOnce();
  const fetchAndSave = async (address: string) => {
    const { name, file } = await download(address);
    save(name, file);
  };
  return { busy, start: (address) => once(() => fetchAndSave(address)) };
}
