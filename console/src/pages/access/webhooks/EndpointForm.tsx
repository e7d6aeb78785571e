// The dialogs to create and change an endpoint, and the one that shows its secret once.
import type { EndpointView } from '@soundings/contract/webhooks/endpoints.ts';
import {
  type EventType,
  eventTypes,
  maxEndpointDescription,
  maxEndpointUrl,
} from '@soundings/contract/webhooks/events.ts';
import { useState } from 'react';
import { api } from '../../../api.ts';
import { useRefresh } from '../../../hooks/data.ts';
import { useText } from '../../../text/text.tsx';
import { Copy } from '../../../ui/Copy.tsx';
import { ShownOnceDialog } from '../../../ui/dialog/ShownOnceDialog.tsx';
import { FormDialog, useDialogForm } from '../../../ui/dialog/FormDialog.tsx';
import { CheckboxField, TextField } from '../../../ui/form/Field.tsx';
import { useForm } from '../../../ui/form/Form.tsx';
import css from './webhooks.module.css';

const types = Object.keys(eventTypes) as EventType[];
type Values = { url: string; description: string; events: readonly EventType[] };

export function NewEndpoint({ onClose }: { onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const [secret, setSecret] = useState<string>();
  const form = useForm({
    initial: { url: '', description: '', events: types } as Values,
    warn: false,
    submit: async ({ events, ...values }) => {
      const created = await api('POST /webhooks', { body: { ...values, events: [...events] } });
      await refresh('GET /webhooks');
      return created.secret;
    },
    onDone: setSecret,
  });
  if (secret !== undefined)
    return (
      <ShownSecret
        title={t('webhooks.createdTitle')}
        text={t('webhooks.secretText')}
        secret={secret}
        onClose={onClose}
      />
    );
  return (
    <FormDialog
      staysWhileBusy
      wide
      form={form}
      onClose={onClose}
      title={t('webhooks.createTitle')}
      confirm={t('webhooks.create')}
      disabled={form.values.events.length === 0}
    >
      <EndpointFields field={form.field} />
    </FormDialog>
  );
}

export function EditEndpoint({ endpoint, onClose }: { endpoint: EndpointView; onClose: () => void }) {
  const t = useText();
  const refresh = useRefresh();
  const { id, url, description, events } = endpoint;
  const form = useDialogForm({
    initial: { url, description, events } as Values,
    submit: ({ events: chosen, ...values }) =>
      api('PATCH /webhooks/{endpointId}', {
        params: { endpointId: id },
        body: { ...values, events: [...chosen] },
      }),
    done: async () => {
      await refresh('GET /webhooks', 'GET /webhooks/{endpointId}');
      return t('webhooks.saved');
    },
    onClose,
  });
  return (
    <FormDialog
      wide
      form={form}
      onClose={onClose}
      title={t('webhooks.editTitle')}
      confirm={t('webhooks.save')}
      disabled={form.values.events.length === 0}
    >
      <EndpointFields field={form.field} />
    </FormDialog>
  );
}

type Fields = ReturnType<typeof useForm<Values, unknown>>['field'];

function EndpointFields({ field }: { field: Fields }) {
  const t = useText();
  const { value: events, onChange } = field('events');
  const toggled = (type: EventType, isOn: boolean) =>
    types.filter((one) => (one === type ? isOn : events.includes(one)));
  return (
    <>
      <TextField
        label={t('webhooks.url')}
        hint={t('webhooks.urlHint')}
        type="url"
        mono
        required
        autoFocus
        maxLength={maxEndpointUrl}
        {...field('url')}
      />
      <TextField
        label={t('webhooks.description')}
        hint={t('webhooks.descriptionHint')}
        optional
        maxLength={maxEndpointDescription}
        {...field('description')}
      />
      <fieldset className={css['choices']}>
        <legend>{t('webhooks.events')}</legend>
        {types.map((type) => (
          <CheckboxField
            key={type}
            label={t(`webhooks.event.${type}`)}
            hint={<code>{type}</code>}
            value={events.includes(type)}
            onChange={(isOn) => onChange(toggled(type, isOn))}
          />
        ))}
        {events.length === 0 && <p className={css['needed']}>{t('webhooks.eventsNeeded')}</p>}
      </fieldset>
    </>
  );
}

type ShownSecretProps = { title: string; text: string; secret: string; onClose: () => void };

/** The secret of an endpoint. It is not shown again. */
export function ShownSecret({ title, text, secret, onClose }: ShownSecretProps) {
  const t = useText();
  return (
    <ShownOnceDialog wide onClose={onClose} title={title} description={text} done={t('webhooks.copied')}>
      <div className={css['secret']}>
        <h3>{t('webhooks.secret')}</h3>
        <Copy text={secret} label={t('webhooks.secret')} />
      </div>
    </ShownOnceDialog>
  );
}
