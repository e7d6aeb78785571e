// The dialog to choose a focus of a group, with suggestions, or to change it.
import type { Focus, FocusSuggestion, GroupFocus } from '@soundings/contract/console/focus.ts';
import { maxFocusAction, maxFocusResponsible } from '@soundings/contract/limits.ts';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { FormDialog, useDialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { ComboboxField } from '../../../ui/form/Combobox.tsx';
import { DateField, TextField } from '../../../ui/form/Field.tsx';
import { FieldRow } from '../../../ui/form/Form.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { focusResponses, openFocuses } from './focus-data.ts';
import css from './focus.module.css';

type Values = { subject: string; action: string; responsible: string; until: string };
type DialogProps = { data: GroupFocus; focus?: Focus; onClose: () => void };

/** A subject as a value: kpi or question, and its id. */
const subjectIn = (value: string): { kind: 'kpi' | 'question'; subject: string } => {
  const at = value.indexOf(':');
  return { kind: value.slice(0, at) as 'kpi' | 'question', subject: value.slice(at + 1) };
};

function useFocusForm({ data, focus, onClose }: DialogProps, first: string | undefined) {
  const t = useText();
  const refresh = useRefresh();
  return useDialogForm<Values>({
    initial: {
      subject: focus ? `${focus.subject.kind}:${focus.subject.id}` : (first ?? ''),
      action: focus?.action ?? '',
      responsible: focus?.responsible ?? '',
      until: focus?.until ?? '',
    },
    submit: ({ subject, ...terms }): Promise<unknown> =>
      focus
        ? api('PATCH /focus/{focusId}', { params: { focusId: String(focus.id) }, body: terms })
        : api('POST /focus/groups/{groupId}', {
            params: { groupId: String(data.group.id) },
            body: { ...subjectIn(subject), ...terms },
          }),
    done: async () => {
      await refresh(...focusResponses);
      return t(focus ? 'focus.changed' : 'focus.added');
    },
    onClose,
  });
}

export function FocusDialog({ data, focus, onClose }: DialogProps) {
  const t = useText();
  const choices = useChoices(data);
  const form = useFocusForm({ data, ...(focus && { focus }), onClose }, choices[0]?.value);
  const { subject, action } = form.values;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      wide
      title={focus ? focus.subject.name : t('focus.add')}
      description={t('focus.addText', { group: data.group.name })}
      confirm={t(focus ? 'action.save' : 'focus.add')}
    >
      {!focus && (
        <ComboboxField
          search={t('focus.search')}
          label={t('focus.about')}
          options={choices}
          {...form.field('subject')}
        />
      )}
      <Suggestions
        suggestions={suggestionsFor(data, subject)}
        chosen={action}
        onChoose={(text) => form.set('action', text)}
      />
      <TextField
        label={t('focus.action')}
        hint={t('focus.actionHint')}
        required
        multiline
        maxLength={maxFocusAction}
        {...form.field('action')}
      />
      <FieldRow>
        <TextField
          label={t('focus.responsible')}
          hint={t('focus.responsibleHint')}
          required
          maxLength={maxFocusResponsible}
          autoComplete="off"
          {...form.field('responsible')}
        />
        <DateField label={t('focus.until')} required {...form.field('until')} />
      </FieldRow>
      <Notice>{t('focus.public')}</Notice>
    </FormDialog>
  );
}

/** Returns the KPIs, and then the questions, that are not an open focus already. */
function useChoices(data: GroupFocus) {
  const t = useText();
  const taken = new Set(openFocuses(data).map(({ subject }) => `${subject.kind}:${subject.id}`));
  return [
    ...data.kpis.map(({ id, name }) => ({ value: `kpi:${id}`, label: name, hint: t('focus.kpi') })),
    ...data.questions.map(({ id, text }) => ({
      value: `question:${id}`,
      label: text,
      hint: t('results.question'),
    })),
  ].filter(({ value }) => !taken.has(value));
}

/** Returns the suggestions for a KPI, or for the KPIs of a question. */
function suggestionsFor(data: GroupFocus, value: string): FocusSuggestion[] {
  const { kind, subject } = subjectIn(value);
  const kpiIds = kind === 'kpi' ? [subject] : (data.questions.find(({ id }) => id === subject)?.kpiIds ?? []);
  return data.suggestions.filter(({ kpiId }) => kpiIds.includes(kpiId));
}

type SuggestionsProps = {
  suggestions: readonly FocusSuggestion[];
  chosen: string;
  onChoose: (text: string) => void;
};

function Suggestions({ suggestions, chosen, onChoose }: SuggestionsProps) {
  const t = useText();
  if (suggestions.length === 0) return null;
  return (
    <fieldset className={css['suggestions']}>
      <legend>{t('focus.suggestions')}</legend>
      {suggestions.map(({ text, source: { title, publisher } }) => (
        <button
          key={text}
          type="button"
          className={css['suggestion']}
          aria-pressed={text === chosen}
          onClick={() => onChoose(text)}
        >
          <span>{text}</span>
          <span className={css['source']}>{t('focus.source', { title, publisher })}</span>
        </button>
      ))}
    </fieldset>
  );
}
