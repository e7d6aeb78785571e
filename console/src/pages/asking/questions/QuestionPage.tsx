// A question: its texts in all languages side by side, a preview, and where it was asked. Also the page for a new question.
import type { AnsweringPageTexts, Library, QuestionView } from '@soundings/contract/console/asking.ts';
import { agreementScale, isChoice, isScaled, type QuestionType } from '@soundings/contract/question-types.ts';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Archive, ArchiveRestore, ChartColumn } from 'lucide-react';
import { useState } from 'react';
import { api, isConflict } from '../../../api.ts';
import { useErrorToast } from '../../../hooks/error-toast.ts';
import { useOnce } from '../../../hooks/once.ts';
import { useData, useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Badge } from '../../../ui/Badge.tsx';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialog/ConfirmDialog.tsx';
import { Consequences } from '../../../ui/dialog/Consequences.tsx';
import { DescriptionList } from '../../../ui/page/DescriptionList.tsx';
import { Form, type FormState, useForm } from '../../../ui/form/Form.tsx';
import { Locked } from '../../../ui/Locked.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Section } from '../../../ui/page/Section.tsx';
import { PreviewLanguage } from '../PreviewLanguage.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import { useToast } from '../../../ui/floating/Toast.tsx';
import css from '../asking.module.css';
import { AskedIn } from './AskedIn.tsx';
import {
  type Draft,
  type DraftShape,
  previewOf,
  questionBodyOf,
  questionDraftOf,
  typeOf,
} from './question-draft.ts';
import { KeyFields, TypeFields } from './NewQuestionFields.tsx';
import { NotApplicableField } from './NotApplicableField.tsx';
import { QuestionPreview } from './QuestionPreview.tsx';
import { Translations } from './Translations.tsx';
import { useKpiName, useQuestionText } from '../texts.ts';
import { useLanguageNames } from '../../../text/languages.ts';

export function QuestionPage() {
  const { questionId } = useParams({ strict: false }) as { questionId: string };
  const response = useData('GET /library/questions/{questionId}', { params: { questionId } });
  const pageTexts = useData('GET /library/texts');
  const library = useData('GET /library');
  return (
    <Loaded response={response}>
      {(question) => (
        <Loaded response={pageTexts}>
          {(texts) => (
            <Loaded response={library}>
              {(all) => <Editor key={question.id} question={question} texts={texts} library={all} />}
            </Loaded>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}

type TextsByLanguage = Record<string, AnsweringPageTexts>;

const shapeOf = ({ language, languages, partly, options }: QuestionView): DraftShape => ({
  base: language,
  languages: [...new Set([language, ...languages, ...partly, 'en', 'sv', 'de'])],
  options: options.length,
});

function Editor({
  question,
  texts,
  library,
}: {
  question: QuestionView;
  texts: TextsByLanguage;
  library: Library;
}) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const textOf = useQuestionText();
  const [shape, setShape] = useState(() => shapeOf(question));
  const [version, setVersion] = useState(question.version);
  const form = useForm<Draft, { version: string }>({
    initial: questionDraftOf(question),
    submit: (draft) =>
      api('PUT /library/questions/{questionId}', {
        params: { questionId: question.id },
        body: { ...questionBodyOf(draft, shape, question.type), version },
      }).catch(async (error: unknown) => {
        if (isConflict(error)) await refresh('GET /library/questions/{questionId}');
        throw error;
      }),
    onDone: (saved) => {
      setVersion(saved.version);
      toast({ text: t('asking.saved') });
      void refresh('GET /library', 'GET /library/questions/{questionId}', 'GET /schedules');
    },
  });
  const discard = () => {
    form.reset(questionDraftOf(question));
    setShape(shapeOf(question));
    setVersion(question.version);
  };
  return (
    <Page
      title={textOf(question)}
      crumbs={[{ label: t('asking.library'), to: '/questions' }]}
      subtitle={<Subtitle question={question} />}
      actions={<Actions question={question} />}
    >
      <div className={css['columns']}>
        <div className={css['main']}>
          <Section title={t('asking.texts')} description={t('asking.textsHint')}>
            <Form
              form={form}
              actions={
                <>
                  <Button type="submit" kind="primary" busy={form.busy} disabled={!form.isDirty}>
                    {t('action.save')}
                  </Button>
                  {form.isDirty && <Button onClick={discard}>{t('asking.discard')}</Button>}
                </>
              }
            >
              <Translations {...{ form, shape, setShape }} type={question.type} isNew={false} />
              <NotApplicableField form={form} type={question.type} />
            </Form>
          </Section>
          <Fixed question={question} library={library} />
          <AskedIn question={question} />
        </div>
        <Preview form={form} shape={shape} type={question.type} texts={texts} />
      </div>
    </Page>
  );
}

function Subtitle({ question: { key, type, isRetired } }: { question: QuestionView }) {
  const t = useText();
  return (
    <span className={css['inline']}>
      <code>{key}</code> · {t(`questionType.${type}`)}
      {isRetired && <Badge tone="warn">{t('asking.retired')}</Badge>}
    </span>
  );
}

function Actions({ question }: { question: QuestionView }) {
  const t = useText();
  const toast = useToast();
  const refresh = useRefresh();
  const showErrorOf = useErrorToast();
  const { busy, once } = useOnce();
  const [isConfirming, setConfirming] = useState(false);
  const { id, isRetired, schedules } = question;
  const retire = async (to: boolean) => {
    await api('PUT /library/questions/{questionId}/retired', {
      params: { questionId: id },
      body: { isRetired: to },
    });
    toast({ text: t(to ? 'asking.isRetired' : 'asking.isRestored'), undo: () => showErrorOf(retire(!to)) });
    await refresh('GET /library', 'GET /library/questions/{questionId}', 'GET /schedules');
  };
  const fixed = schedules.filter(({ isFixed }) => isFixed);
  return (
    <>
      {question.weeks > 0 && (
        <LinkButton icon={ChartColumn} to={`/results/questions/${id}`}>
          {t('asking.result')}
        </LinkButton>
      )}
      {isRetired ? (
        <Button icon={ArchiveRestore} busy={busy} onClick={() => once(() => retire(false))}>
          {t('asking.restore')}
        </Button>
      ) : (
        <Button icon={Archive} onClick={() => setConfirming(true)}>
          {t('asking.retire')}
        </Button>
      )}
      <ConfirmDialog
        open={isConfirming}
        onClose={() => setConfirming(false)}
        title={t('asking.retireTitle')}
        text={
          <>
            <p>{t('asking.retireText')}</p>
            {schedules.length > 0 && (
              <>
                <p>{t('asking.retireUsed', { count: schedules.length })}</p>
                <Consequences
                  items={schedules.map((one) =>
                    t(one.isFixed ? 'asking.usedFixed' : 'asking.usedByKpi', { name: one.name }),
                  )}
                />
              </>
            )}
            {fixed.length > 0 && <p>{t('asking.retireFixed')}</p>}
          </>
        }
        confirm={t('asking.retire')}
        onConfirm={() => retire(true)}
      />
    </>
  );
}

/** The fields that can't be changed once the question is created, and why. */
function Fixed({ question, library }: { question: QuestionView; library: Library }) {
  const t = useText();
  const kpiName = useKpiName();
  const { nameOf } = useLanguageNames();
  const kpis = library.kpis.filter(({ id }) => question.kpiIds.includes(id)).map(kpiName);
  const lock = <Locked reason={t('asking.fixedText')} />;
  return (
    <Section title={t('asking.about')} description={t('asking.fixedText')}>
      <DescriptionList
        items={[
          [
            t('asking.keyLabel'),
            <span key="key" className={css['inline']}>
              <code>{question.key}</code> {lock}
            </span>,
          ],
          [
            t('asking.type'),
            <span key="type" className={css['inline']}>
              {t(`questionType.${question.type}`)} {lock}
            </span>,
          ],
          [t('asking.baseLanguage'), nameOf(question.language)],
          [t('asking.kpis'), kpis.join(', ') || t('asking.noKpi')],
        ]}
      />
    </Section>
  );
}

type PreviewProps = { form: FormState<Draft>; shape: DraftShape; type: QuestionType; texts: TextsByLanguage };

function Preview({ form, shape, type, texts }: PreviewProps) {
  const t = useText();
  const [wanted, setWanted] = useState(shape.base);
  const language = shape.languages.includes(wanted) ? wanted : shape.base;
  return (
    <aside className={css['side']}>
      <div className={css['sticky']}>
        <Section title={t('asking.preview')} description={t('asking.previewText')}>
          <PreviewLanguage languages={shape.languages} value={language} onChange={setWanted} />
          <QuestionPreview
            question={previewOf(form.values, shape, type, language)}
            language={language}
            texts={(texts[language] ?? texts['en']) as AnsweringPageTexts}
          />
        </Section>
      </div>
    </aside>
  );
}

export function NewQuestionPage() {
  const pageTexts = useData('GET /library/texts');
  const library = useData('GET /library');
  return (
    <Loaded response={pageTexts}>
      {(texts) => <Loaded response={library}>{(all) => <NewEditor texts={texts} library={all} />}</Loaded>}
    </Loaded>
  );
}

function NewEditor({ texts, library }: { texts: TextsByLanguage; library: Library }) {
  const t = useText();
  const navigate = useNavigate();
  const toast = useToast();
  const refresh = useRefresh();
  const base = library.language;
  const [shape, setShape] = useState<DraftShape>({
    base,
    languages: [...new Set([base, 'en', 'sv', 'de'])],
    options: 3,
  });
  const form = useForm<Draft, { id: number }>({
    initial: { key: '', type: String(agreementScale), kpi: '', text: '' },
    submit: (draft) => {
      const type = typeOf(draft);
      return api('POST /library/questions', {
        body: {
          ...questionBodyOf(draft, { ...shape, options: isChoice(type) ? shape.options : 0 }, type),
          key: draft['key'] ?? '',
          type,
          language: shape.base,
          kpiIds: draft['kpi'] && isScaled(type) ? [draft['kpi']] : [],
        },
      });
    },
    onDone: ({ id }) => {
      toast({ text: t('asking.questionCreated') });
      void refresh('GET /library', 'GET /library/kpis');
      void navigate({ to: `/questions/${id}` });
    },
  });
  const type = typeOf(form.values);
  return (
    <Page title={t('asking.newQuestion')} crumbs={[{ label: t('asking.library'), to: '/questions' }]}>
      <div className={css['columns']}>
        <div className={css['main']}>
          <Section title={t('asking.texts')} description={t('asking.textsHint')}>
            <Form
              form={form}
              actions={
                <Button type="submit" kind="primary" busy={form.busy}>
                  {t('asking.createQuestion')}
                </Button>
              }
            >
              <TypeFields {...{ form, shape, setShape }} />
              <Translations {...{ form, shape, setShape }} type={type} isNew />
              <NotApplicableField form={form} type={type} />
              <KeyFields {...{ form, library }} />
            </Form>
          </Section>
        </div>
        <Preview form={form} shape={shape} type={type} texts={texts} />
      </div>
    </Page>
  );
}
