// The upload interface: uploading files of people and groups, and their reports.
import type { components } from './api-types.ts';
import type { CallOptions, Connection } from './connection.ts';
import { waitFor } from './retries.ts';

export type FileReport = components['schemas']['FileReport'];
export type FileContent = Blob | Uint8Array | string;

/** The file area of an account. It needs a token with the `files` scope. */
export class FileArea {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Uploads a CSV, XLS or XLSX file, and returns the name under which it is stored. The service then processes it: `report` has the result.
   * It replaces a file with the same name. It is not sent again after a lost connection or 503: the service may process it a second time,
   * and send its emails again. If that happens, look for it with `report`.
   */
  async upload(name: string, content: FileContent, { signal }: CallOptions = {}): Promise<string> {
    const blob = content instanceof Blob ? content : new Blob([content as string | Uint8Array<ArrayBuffer>]);
    const body = () => {
      const form = new FormData();
      form.append('file', blob, name);
      return form;
    };
    const path = '/v1/storage/uploadFile';
    return this.#connection.text({ method: 'POST', path, body, repeat: 'once', signal });
  }

  /** Returns the names of all stored files in ascending order. */
  async list(options: CallOptions = {}): Promise<string[]> {
    return this.#connection.read('/v1/storage/files', options);
  }

  /** Returns the report of the last file with this name. */
  async report(name: string, options: CallOptions = {}): Promise<FileReport> {
    return this.#connection.read(`/v1/storage/files/${encodeURIComponent(name)}/report`, options);
  }

  /** Waits until a file is processed, and returns its report. Use a signal to limit the wait. */
  async processed(name: string, options: CallOptions = {}): Promise<FileReport> {
    for (let pause = 250; ; pause = Math.min(5000, pause * 1.5)) {
      const report = await this.report(name, options);
      if (report.outcome !== 'waiting' && report.outcome !== 'processing') return report;
      await waitFor(pause, options.signal);
    }
  }
}
