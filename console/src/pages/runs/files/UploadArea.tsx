// The drop area for files, and the list of running uploads.
import { CircleAlert, FileUp, X } from 'lucide-react';
import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { useFormat, useText } from '../../../text/text.tsx';
import { IconButton } from '../../../ui/Button.tsx';
import { useErrorText } from '../../../ui/faults.ts';
import { Progress } from '../../../ui/page/Progress.tsx';
import css from './files.module.css';
import type { FileUpload } from './upload-list.ts';
import type { Uploads } from './uploads.ts';

/** The types that the browser offers to choose. The service checks each file itself. */
export const accepted = '.csv,.xls,.xlsx';

const hasFiles = (event: DragEvent) => event.dataTransfer.types.includes('Files');

/** Makes the whole page a drop area. */
export function DropArea({ onFiles, children }: { onFiles: (files: File[]) => void; children: ReactNode }) {
  const t = useText();
  const [isOver, setIsOver] = useState(false);
  const depth = useRef(0); // the number of nested elements that the pointer has entered
  return (
    <div
      className={css['drop']}
      onDragEnter={(event) => {
        if (!hasFiles(event)) return;
        depth.current++;
        setIsOver(true);
      }}
      onDragOver={(event) => {
        if (hasFiles(event)) event.preventDefault();
      }}
      onDragLeave={(event) => {
        if (hasFiles(event) && --depth.current <= 0) setIsOver(false);
      }}
      onDrop={(event) => {
        if (!hasFiles(event)) return;
        event.preventDefault();
        depth.current = 0;
        setIsOver(false);
        onFiles([...event.dataTransfer.files]);
      }}
    >
      {children}
      {isOver && (
        <div className={css['over']}>
          <FileUp aria-hidden size={28} strokeWidth={1.5} />
          <p className={css['overTitle']}>{t('files.dropTitle')}</p>
          <p>{t('files.subtitle')}</p>
        </div>
      )}
    </div>
  );
}

export function UploadList({ uploads: { files, dismiss } }: { uploads: Uploads }) {
  const t = useText();
  return (
    <div className={css['sent']} data-above>
      <p className={css['hint']}>
        <FileUp aria-hidden size={16} strokeWidth={1.75} />
        {t('files.dropHint')}
      </p>
      {files.length > 0 && (
        <ul className={css['sentList']} aria-label={t('files.sending')}>
          {files.map((file) => (
            <li key={file.key}>
              <UploadItem file={file} onDismiss={() => dismiss(file.key)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function UploadItem({
  file: { name, size, share, error },
  onDismiss,
}: {
  file: FileUpload;
  onDismiss: () => void;
}) {
  const t = useText();
  const { bytes, percent } = useFormat();
  const errorText = useErrorText();
  if (error === undefined) {
    const state = share >= 1 ? t('files.checking') : percent(share);
    return <Progress value={share} label={`${name} · ${bytes(size)} · ${state}`} />;
  }
  return (
    <div className={css['refused']} role="alert">
      <CircleAlert aria-hidden size={16} strokeWidth={1.75} className={css['bad']} />
      <span>
        <strong>{name}</strong> <span>{errorText(error)}</span>
      </span>
      <IconButton icon={X} label={t('files.dismiss', { name })} onClick={onDismiss} />
    </div>
  );
}
