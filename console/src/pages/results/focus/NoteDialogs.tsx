// The dialogs about how a focus goes: the monthly check-in, and stopping or reopening it.
import type { Focus, FocusOutlook } from '@soundings/contract/console/focus.ts';
import { maxFocusNote } from '@soundings/contract/limits.ts';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { FormDialog, useDialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { RadioField, TextField } from '../../../ui/form/Field.tsx';
import type { FieldState } from '../../../ui/form/Form.tsx';
import { focusResponses } from './focus-data.ts';

const outlooks: readonly FocusOutlook[] = ['onTrack', 'needsHelp', 'done'];

type DialogProps = { focus: Focus; onClose: () => void };

export function CheckInDialog({ focus, onClose }: DialogProps) {
  const t = useText();
  const refresh = useRefresh();
  const form = useDialogForm<{ outlook: FocusOutlook; note: string }>({
    initial: { outlook: focus.outlook ?? 'onTrack', note: '' },
    submit: (body) => api('POST /focus/{focusId}/check-in', { params: { focusId: String(focus.id) }, body }),
    done: async () => {
      await refresh(...focusResponses);
      return t('focus.checkedIn');
    },
    onClose,
  });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={t('focus.checkInTitle', { name: focus.subject.name })}
      confirm={t('focus.checkInConfirm')}
    >
      <RadioField
        label={t('focus.how')}
        {...form.field('outlook')}
        options={outlooks.map((value) => ({
          value,
          label: t(`focus.outlook.${value}`),
          hint: t(`focus.outlookHint.${value}`),
        }))}
      />
      <NoteField field={form.field('note')} />
    </FormDialog>
  );
}

export function NoteDialog({ focus, kind, onClose }: DialogProps & { kind: 'stop' | 'reopen' }) {
  const t = useText();
  const refresh = useRefresh();
  const name = focus.subject.name;
  const form = useDialogForm<{ note: string }>({
    initial: { note: '' },
    submit: (body) => api(`POST /focus/{focusId}/${kind}`, { params: { focusId: String(focus.id) }, body }),
    done: async () => {
      await refresh(...focusResponses);
      return t(`focus.${kind}Done`);
    },
    onClose,
  });
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={t(`focus.${kind}Title`, { name })}
      description={t(`focus.${kind}Text`)}
      confirm={t(`focus.${kind}`)}
    >
      <NoteField field={form.field('note')} />
    </FormDialog>
  );
}

function NoteField({ field }: { field: FieldState<string> }) {
  const t = useText();
  return (
    <TextField
      label={t('focus.note')}
      hint={t('focus.noteHint')}
      optional
      multiline
      maxLength={maxFocusNote}
      {...field}
    />
  );
}
