// The script of the answering page. It shows one question at a time and sends each answer as soon as it is given. Nothing is sent
// before something has changed, because mail scanners run scripts too.
//
// A kiosk shows the same questions without leaving its own page (kiosk.client.js). It passes `kiosk`: the path of the answering page,
// a signal that ends this script, and what to do instead of going to another page. Then neither the address, the title nor the history
// of the browser change. Returns a function that sends what has changed, and returns whether anything still has to be sent.
// oxlint-disable-next-line no-unused-vars -- other scripts of the page call it
function answering(kiosk) {
  const byId = (id) => document.getElementById(id);
  const steps = [...document.querySelectorAll('.card')];
  // A form with faults is shown and sent as a whole.
  if (steps.length === 0 || document.querySelector('.faults')) return () => false;
  const [form, intro, privacy, progress, back, state] = [
    'form',
    'intro',
    'privacy',
    'progress',
    'back',
    'state',
  ].map(byId);
  const title = document.title;
  // Answers to send, by step. Each contains the complete answer, so only the latest one of a question is sent.
  const waiting = new Map();
  let at = 0;
  let isSending = false;
  let failures = 0;
  let typing;
  let retry;
  // Where the page leaves to once everything is saved.
  let exit;
  // Identifies a browser without cookies, as long as the page is open.
  const visit = Array.from(crypto.getRandomValues(new Uint8Array(27)), (one) => (one % 36).toString(36)).join(
    '',
  );

  const textOf = (key) =>
    [...byId('texts').content.querySelector(`[data-text=${key}]`).childNodes].map((node) =>
      node.cloneNode(true),
    );

  function say(key) {
    state.className = key === 'unsaved' || key === 'ended' ? 'bad' : '';
    state.replaceChildren(...textOf(key));
  }

  // Whether the question can no longer be answered here.
  const isFixed = (step) => 'fixed' in step.dataset;
  const first = Math.max(
    0,
    steps.findIndex((step) => !isFixed(step)),
  );

  function show(isMove) {
    if (!kiosk) {
      const named = steps.findIndex(({ id }) => location.hash === `#${id}`);
      at = named < 0 ? first : named;
    }
    steps.forEach((step, i) => (step.hidden = i !== at));
    const isLast = at === steps.length - 1;
    byId('next').hidden = isLast;
    byId('finish').hidden = !isLast;
    // Hidden visually only, so that the page keeps its heading for screen readers.
    intro.classList.toggle('unseen', at !== first);
    back.hidden = at === 0;
    progress.value = at + 1;
    form[at !== first ? 'after' : 'before'](privacy);
    if (!isMove) return;
    const heading = steps[at].querySelector('h2');
    if (!kiosk) document.title = `${heading.querySelector('small').textContent} – ${title}`;
    scrollTo(0, 0);
    heading.focus({ preventScroll: true });
  }

  function goTo(step) {
    stay();
    if (!kiosk) return (location.hash = step.id);
    keep(steps[at]);
    at = steps.indexOf(step);
    show(true);
  }
  const field = (step, name) => step.querySelector(`[name=${name}${step.id.slice(1)}]`);
  const boxes = (step) => [...step.querySelectorAll('fieldset input')];
  // Whether a box is the one for "not applicable".
  const isNone = (box) => 'none' in box.dataset;

  function fault(step, nodes) {
    step.querySelector('.fault').replaceChildren(...nodes);
    step.classList.toggle('wrong', nodes.length > 0);
  }

  // Returns the answer of a step; undefined if there is none, 'choose' if there is only a comment.
  function answerAt(step) {
    if (isFixed(step)) return undefined;
    const { answer } = step.dataset;
    const question = Number(step.id.slice(1));
    if (field(step, 's').checked) return { question, skipped: true };
    const text = field(step, 'c').value;
    const comment = text.trim() === '' ? null : text;
    const chosen = boxes(step)
      .filter((box) => box.checked)
      .map((box) => box.value);
    const isKept = 'kept' in step.dataset;
    if (boxes(step).some((box) => box.checked && isNone(box)))
      return { question, notApplicable: true, comment };
    if (answer === 'comment')
      return comment ? { question, comment } : isKept ? { question, skipped: true } : undefined;
    if (answer === 'options')
      return chosen[0] || comment || isKept ? { question, value: chosen, comment } : undefined;
    if (chosen.length === 0) return comment ? 'choose' : undefined;
    const [one] = chosen;
    const value = answer === 'number' ? Number(one) : answer === 'yesNo' ? one === 'yes' : one;
    return { question, value, comment };
  }

  // Explains next to the check box what is saved, as long as the page shows something else.
  function note(step) {
    if (isFixed(step)) return;
    const isSkipped = field(step, 's').checked;
    const answer = answerAt(step);
    const isDropped = isSkipped && field(step, 'c').value.trim() !== '';
    const isStill = step.isSkipped && !isSkipped && (answer === undefined || answer === 'choose');
    const key = isDropped ? 'dropped' : isStill ? 'stillSkipped' : '';
    if (step.noted === key) return;
    step.noted = key;
    step.querySelector('.note').replaceChildren(...(key === '' ? [] : textOf(key)));
  }

  // Called when the person goes on with the questions. They finish again when they are done.
  function stay() {
    if (exit) kiosk?.refused();
    exit = undefined;
  }

  function keep(step) {
    clearTimeout(typing);
    const answer = answerAt(step);
    if (answer === undefined || answer === 'choose') return;
    const body = JSON.stringify(answer);
    if (step.sent === body) return;
    step.sent = body;
    step.toggleAttribute('data-kept', !answer.skipped);
    step.isSkipped = field(step, 's').checked;
    fault(step, []);
    waiting.set(step, body);
    void send();
  }

  // Called if the question was answered elsewhere or its answer is already counted. The choice stays visible and is not sent again.
  function fix(step) {
    step.dataset.fixed = '';
    for (const one of step.querySelectorAll('input')) one.disabled = true;
    for (const one of step.querySelectorAll('textarea')) one.readOnly = true;
    step.querySelector('.note').replaceChildren();
  }

  async function send() {
    if (isSending || waiting.size === 0) return go();
    clearTimeout(retry);
    isSending = true;
    const [[step, body]] = waiting;
    const slow = setTimeout(say, 400, failures === 0 ? 'saving' : 'unsaved');
    let status = 0;
    let message;
    try {
      const reply = await fetch(`${kiosk?.path ?? location.pathname}/answers${form.getAttribute('action')}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'soundings-visit': visit },
        body,
        keepalive: true,
        signal: AbortSignal.timeout(15000),
      });
      status = reply.status;
      if (status === 400 || status === 409) ({ message } = await reply.json());
    } catch {
      // Network error or timeout: retried below.
    }
    clearTimeout(slow);
    isSending = false;
    const isOver = [204, 400, 404, 409].includes(status);
    if (isOver && waiting.get(step) === body) waiting.delete(step);
    if (status === 404) {
      waiting.clear();
      exit = undefined;
      kiosk?.ended();
      return say('ended');
    }
    if (status === 400 || status === 409) {
      stay();
      step.sent = undefined;
      state.replaceChildren();
      if (status === 409) {
        fix(step);
        waiting.delete(step);
      }
      fault(step, [message]);
      goTo(step);
      return send();
    }
    if (status === 204) {
      failures = 0;
      if (waiting.size === 0) say('saved');
      return send();
    }
    say('unsaved');
    retry = setTimeout(send, Math.min(60, 2 ** failures++) * 1000);
  }

  // Leaves for another page once everything is saved.
  function go() {
    if (exit === undefined || isSending || waiting.size > 0) return;
    if (kiosk) kiosk.left(exit);
    else location.assign(exit);
  }

  function leaveTo(address) {
    keep(steps[at]);
    exit = address;
    kiosk?.leaving();
    void send();
  }

  form.addEventListener('change', ({ target }) => {
    const step = steps[at];
    const skip = field(step, 's');
    const uncheck = (wanted) =>
      boxes(step)
        .filter(wanted)
        .forEach((box) => (box.checked = false));
    if (target === skip && skip.checked) uncheck(() => true);
    // Check boxes can all be checked at the same time.
    if (target.type === 'checkbox' && target !== skip && target.checked)
      uncheck((box) => isNone(box) !== isNone(target));
    // Clearing the comment leaves the box ticked.
    if (target !== skip && target.value.trim() !== '') skip.checked = false;
    keep(step);
    note(step);
  });
  form.addEventListener('input', ({ target }) => {
    stay();
    if (target.tagName !== 'TEXTAREA') return;
    const step = steps[at];
    if (target.value.trim() !== '') field(step, 's').checked = false;
    note(step);
    clearTimeout(typing);
    typing = setTimeout(keep, 1000, step);
  });
  form.addEventListener('focusin', ({ target }) => target.tagName === 'TEXTAREA' && stay());
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const isLast = at === steps.length - 1;
    const incomplete = (isLast ? steps : [steps[at]]).find((step) => answerAt(step) === 'choose');
    if (incomplete) {
      fault(incomplete, textOf('choose'));
      goTo(incomplete);
      return boxes(incomplete)[0].focus();
    }
    keep(steps[at]);
    if (!isLast) goTo(steps[at + 1]);
    // Depends only on what this page has sent, because a handed-out link must not reveal whether there are answers.
    else leaveTo(`${form.getAttribute('action')}&${steps.some(({ sent }) => sent) ? 'saved' : 'empty'}`);
  });
  back.addEventListener('click', () => goTo(steps[at - 1]));
  for (const link of document.querySelectorAll('#languages a')) {
    link.addEventListener('click', (event) => {
      event.preventDefault();
      leaveTo(link.getAttribute('href') + location.hash);
    });
  }
  const until = { signal: kiosk?.signal };
  if (!kiosk)
    addEventListener('hashchange', () => {
      stay();
      keep(steps[at]);
      show(true);
    });
  addEventListener('online', send, until);
  document.addEventListener('visibilitychange', () => document.hidden && keep(steps[at]), until);
  addEventListener(
    'beforeunload',
    (event) => {
      keep(steps[at]);
      if (waiting.size > 0 || steps.some((step) => answerAt(step) === 'choose')) event.preventDefault();
    },
    until,
  );

  progress.hidden = false;
  byId('send').hidden = true;
  for (const step of steps) {
    step.sent = JSON.stringify(answerAt(step));
    step.isSkipped = !isFixed(step) && field(step, 's').checked;
  }
  at = first;
  show(false);
  return () => {
    keep(steps[at]);
    return isSending || waiting.size > 0;
  };
}
