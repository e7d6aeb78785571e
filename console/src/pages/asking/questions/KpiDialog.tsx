// The dialog to create a KPI, or to change its name, image and questions.
import type { KpiView } from '@soundings/contract/console/asking.ts';
import { isScaled } from '@soundings/contract/question-types.ts';
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import { useEffect, useState } from 'react';
import { api, isConflict } from '../../../api.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { FormDialog, useDialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { TextField } from '../../../ui/form/Field.tsx';
import { FieldRow, type FormState } from '../../../ui/form/Form.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { QuestionPicker } from './QuestionPicker.tsx';
import { useKpiName } from '../texts.ts';
import { questionKeyOf } from './question-key.ts';
import { useLanguageNames } from '../../../text/languages.ts';

function useKpiForm(kpi: KpiView | undefined, onClose: () => void): FormState<Values> {
  const t = useText();
  const refresh = useRefresh();
  return useDialogForm<Values>({
    initial: {
      ...Object.fromEntries(
        Object.entries(kpi?.translations ?? {}).map(([code, name]) => [`translations/${code}`, name]),
      ),
      id: kpi?.id ?? '',
      name: kpi?.name ?? '',
      imageUrl: kpi?.imageUrl ?? '',
      questionIds: kpi?.questions.map(({ id }) => id) ?? [],
    },
    submit: ({ id, name, imageUrl, questionIds, ...names }) => {
      const body = {
        name,
        translations: translationsIn(names),
        imageUrl: imageUrl.trim() === '' ? null : imageUrl.trim(),
        questionIds,
      };
      return kpi
        ? api('PUT /library/kpis/{kpiId}', {
            params: { kpiId: kpi.id },
            body: { ...body, version: kpi.version },
          }).catch(async (error: unknown) => {
            if (isConflict(error)) await refresh('GET /library/kpis');
            throw error;
          })
        : api('POST /library/kpis', { body: { id, ...body } });
    },
    done: async (_, { name }) => {
      await refresh('GET /library/kpis', 'GET /library', 'GET /schedules');
      return t('asking.kpiSaved', { name });
    },
    onClose,
    warn: false,
  });
}

/** `kpi`: undefined creates a new one. */
export function KpiDialog({ kpi, onClose }: { kpi: KpiView | undefined; onClose: () => void }) {
  const t = useText();
  const kpiName = useKpiName();
  const library = useData('GET /library');
  const form = useKpiForm(kpi, onClose);
  const picked = form.field('questionIds');
  return (
    <FormDialog
      wide
      form={form}
      onClose={onClose}
      title={kpi ? t('asking.editKpi', { name: kpiName(kpi) }) : t('asking.newKpi')}
      confirm={kpi ? t('action.save') : t('asking.createKpi')}
    >
      {kpi?.hasValues && <Notice title={t('asking.valuesStay')}>{t('asking.valuesStayText')}</Notice>}
      <TextField
        {...form.field('name')}
        label={t('asking.name')}
        hint={t('asking.kpiNameText')}
        required
        autoFocus
      />
      <Names form={form} kpi={kpi} languages={library.data?.languages ?? []} />
      {!kpi && <IdField form={form} />}
      <TextField
        {...form.field('imageUrl')}
        label={t('asking.imageUrl')}
        hint={t('asking.imageText')}
        placeholder="https://"
        optional
      />
      <Loaded response={library}>
        {({ questions }) => (
          <QuestionPicker
            {...picked}
            label={t('asking.kpiQuestions')}
            hint={t('asking.kpiQuestionsText')}
            questions={questions.filter(({ type }) => isScaled(type))}
          />
        )}
      </Loaded>
    </FormDialog>
  );
}

type Values = {
  id: string;
  name: string;
  imageUrl: string;
  questionIds: number[];
} & Record<`translations/${string}`, string>;

/** Returns the translations that are not empty. */
const translationsIn = (names: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(names)
      .map(([field, name]) => [field.replace('translations/', ''), name.trim()] as const)
      .filter(([, name]) => name !== ''),
  );

type NamesProps = { form: FormState<Values>; kpi: KpiView | undefined; languages: readonly string[] };

/** A field for each language in which the account has questions or the KPI has a name. */
function Names({ form, kpi, languages }: NamesProps) {
  const t = useText();
  const { nameOf, sorted } = useLanguageNames();
  const codes = new Set([...languages, ...Object.keys(kpi?.translations ?? {})]);
  return (
    <FieldRow>
      {sorted([...codes]).map(({ code }) => {
        const { value, ...field } = form.field(`translations/${code}`);
        return (
          <TextField
            key={code}
            {...field}
            value={(value as string | undefined) ?? ''}
            label={t('asking.kpiNameIn', { language: nameOf(code) })}
            placeholder={form.values.name}
            lang={code}
            dir={writingDirectionOf(code)}
            optional
          />
        );
      })}
    </FieldRow>
  );
}

type IdForm = {
  values: { name: string; id: string };
  set: (name: 'id', value: string) => void;
  field: (name: 'id') => {
    name: string;
    value: string;
    onChange: (value: string) => void;
    error: string | undefined;
  };
};

/** The field for the id. An id is suggested from the name until the user types another. */
function IdField({ form }: { form: IdForm }) {
  const t = useText();
  const [suggested, setSuggested] = useState('');
  const { set, values } = form;
  const fromName = questionKeyOf(values.name);
  useEffect(() => {
    setSuggested(fromName);
    if (values.id === suggested && values.id !== fromName) set('id', fromName);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only a change of the name suggests another id
  }, [fromName]);
  return (
    <TextField {...form.field('id')} label={t('asking.id')} hint={t('asking.kpiIdText')} mono required />
  );
}
