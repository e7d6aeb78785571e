// A preview of what people will see when a schedule asks, in each language. Nothing can be answered here.
import { writingDirectionOf } from '@soundings/contract/texts.ts';
import type { QuestionTexts, SchedulePreview } from '@soundings/contract/console/asking.ts';
import { useParams } from '@tanstack/react-router';
import { EyeOff } from 'lucide-react';
import { useState } from 'react';
import { useData } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { useWeekText } from '../../../text/weeks.ts';
import { Empty } from '../../../ui/page/Empty.tsx';
import { Notice } from '../../../ui/page/Notice.tsx';
import { Page } from '../../../ui/page/Page.tsx';
import { Padded } from '../../../ui/page/Section.tsx';
import { PreviewLanguage } from '../PreviewLanguage.tsx';
import { Loaded } from '../../../ui/page/States.tsx';
import css from './PreviewPage.module.css';
import { QuestionPreview } from '../questions/QuestionPreview.tsx';
import { useDays } from '../texts.ts';

export function PreviewPage() {
  const { scheduleId } = useParams({ strict: false }) as { scheduleId: string };
  const response = useData('GET /schedules/{scheduleId}/preview', { params: { scheduleId } });
  return <Loaded response={response}>{(preview) => <Preview preview={preview} />}</Loaded>;
}

/** Returns a question in a language, as far as it is translated. */
function translated(question: QuestionTexts, language: string) {
  const { type, text, language: own, translations, options, allowsNotApplicable } = question;
  const of = (one: { text: string; translations?: Record<string, string> }) =>
    own === language ? one.text : (one.translations?.[language] ?? one.text);
  return {
    type,
    text: of({ text, translations }),
    options: options.map((one) => ({ id: one.id, text: of(one) })),
    allowsNotApplicable,
  };
}

function Preview({ preview }: { preview: SchedulePreview }) {
  const t = useText();
  const days = useDays();
  const { sentence } = useWeekText();
  const { id, name, company, questions, next, isLate, texts: textsByLanguage } = preview;
  const [language, setLanguage] = useState(textsByLanguage[preview.language] ? preview.language : 'en');
  const texts = textsByLanguage[language]!;
  return (
    <Page
      title={t('asking.preview')}
      crumbs={[
        { label: t('asking.schedules'), to: '/schedules' },
        { label: name, to: `/schedules/${id}` },
      ]}
      subtitle={
        next
          ? t(isLate ? 'asking.previewLate' : 'asking.previewNext', {
              day: days.day(next.day),
              week: sentence(next),
            })
          : t('asking.previewLast')
      }
      toolbar={
        <PreviewLanguage languages={Object.keys(textsByLanguage)} value={language} onChange={setLanguage} />
      }
    >
      {questions.length === 0 ? (
        <Empty icon={EyeOff} title={t('asking.previewNone')} />
      ) : (
        <Padded>
          <Notice>{t('asking.previewKept')}</Notice>
          <div className={css['page']} lang={language} dir={writingDirectionOf(language)}>
            <p className={css['company']}>{company}</p>
            <p className={css['greeting']}>{texts.greeting}</p>
            <p className={css['soft']}>{texts.asks}</p>
            <div className={css['privacy']}>
              <p className={css['strong']}>{texts.privacyHeading}</p>
              <p>{texts.privacy}</p>
            </div>
            {questions.map((question, i) => (
              <QuestionPreview
                key={question.id}
                question={translated(question, language)}
                language={language}
                texts={texts}
                place={`${i + 1} / ${questions.length}`}
              />
            ))}
            <span className={css['send']}>{texts.send}</span>
          </div>
        </Padded>
      )}
    </Page>
  );
}
