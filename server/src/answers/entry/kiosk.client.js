// The script of a kiosk. It never leaves its page: it fetches the questions of a card, shows them, and forgets them. So the history, the
// cache and the storage of the browser contain nothing about anyone. Without a connection it keeps trying, and says so.
(() => {
  const byId = (id) => document.getElementById(id);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const [thanksSeconds, idleSeconds, warningSeconds, codeSeconds] = [15, 60, 20, 30];
  const own = location.pathname;
  const home = document.documentElement.lang;
  const [code, state, session, idle] = ['code', 'code-state', 'session', 'idle'].map(byId);
  const menu = byId('languages');
  // The person who answers: the path of their page, and how to end and ask its script. Undefined: no one does.
  let person;
  // The request that opens a card, so that it can be cancelled.
  let opening;
  let stopCamera;
  let ticking;
  let slow;
  let lastUse = Date.now();
  let isOutdated = false;
  let panel = 'entry';

  history.replaceState(null, '', own);

  const textsOf = (language) => document.querySelector(`template[data-texts="${language}"]`);

  // Shows the texts of the kiosk in a language.
  function speak(language) {
    const texts = textsOf(language) ?? textsOf('en');
    const of = (key) => texts.content.querySelector(`[data-text="${key}"]`);
    for (const one of all('[data-t]')) {
      one.replaceChildren(...[...of(one.dataset.t).childNodes].map((node) => node.cloneNode(true)));
    }
    for (const one of all('[data-label]')) one.setAttribute('aria-label', of(one.dataset.label).textContent);
    document.documentElement.lang = texts.dataset.texts;
    document.documentElement.dir = texts.dataset.dir;
    if (!menu.isConnected) return;
    const buttons = all('#languages button');
    for (const one of buttons)
      one.toggleAttribute('aria-current', one.dataset.language === texts.dataset.texts);
    menu.querySelector('summary').textContent = buttons.find((one) =>
      one.hasAttribute('aria-current'),
    ).textContent;
    menu.open = false;
  }

  function say(key) {
    if (key) state.dataset.t = key;
    else delete state.dataset.t;
    state.className = ['typo', 'unknown', 'notAsked', 'wait', 'noCamera'].includes(key) ? 'faults' : '';
    state.replaceChildren();
    if (key) speak(document.documentElement.lang);
  }

  function show(name) {
    panel = name;
    // Where there is nothing to read in another language, and no link to the page of someone who has left.
    byId('languages').hidden = name !== 'entry' && name !== 'session';
    for (const one of all('[data-panel]')) one.hidden = one.dataset.panel !== name;
    scrollTo(0, 0);
    if (name === 'entry') return code.focus({ preventScroll: true });
    const heading = document.querySelector(`[data-panel="${name}"] h1`);
    heading?.setAttribute('tabindex', '-1');
    heading?.focus({ preventScroll: true });
  }

  function countDown(seconds, then) {
    clearInterval(ticking);
    const end = Date.now() + seconds * 1000;
    const tick = () => {
      const left = Math.max(0, Math.ceil((end - Date.now()) / 1000));
      for (const one of all('.seconds')) one.textContent = left;
      if (left > 0) return;
      clearInterval(ticking);
      then();
    };
    tick();
    ticking = setInterval(tick, 250);
  }

  // Removes everything about the person, and waits for the next one.
  function forget() {
    clearInterval(ticking);
    clearTimeout(slow);
    stopScanning();
    cancel();
    person?.end.abort();
    person = undefined;
    session.replaceChildren();
    byId('languages').replaceWith(menu);
    if (idle.open) idle.close();
    code.value = '';
    say();
    speak(home);
    getSelection()?.removeAllRanges();
    show('entry');
    if (isOutdated) location.reload();
  }

  // Says that questions are being opened. Returns what tells whether this was cancelled.
  function begin() {
    opening = { isCancelled: false };
    say('opening');
    byId('cancel').hidden = false;
    byId('entry').setAttribute('aria-busy', 'true');
    return opening;
  }

  function cancel() {
    if (opening) opening.isCancelled = true;
    opening = undefined;
    byId('cancel').hidden = true;
    byId('entry').removeAttribute('aria-busy');
  }

  // Sends a request until there is a response, which no connection and errors of the service are not. Undefined if it was cancelled.
  async function persist(mine, request) {
    for (let failures = 0; !mine.isCancelled; failures++) {
      try {
        const response = await request(AbortSignal.timeout(15000));
        if (response.status < 500) {
          const text = await response.text();
          if (!mine.isCancelled) return { status: response.status, text };
        }
      } catch {
        // No connection: tried again below.
      }
      if (!mine.isCancelled) say('offline');
      await new Promise((resolve) => setTimeout(resolve, Math.min(10, 2 ** failures) * 1000));
    }
    return undefined;
  }

  // Opens the questions of the code in a text.
  async function open(text) {
    if (opening || person) return;
    const wanted = codeIn(text);
    if (!wanted) return say('typo');
    stopScanning();
    const mine = begin();
    const found = await persist(mine, (signal) =>
      fetch(`${own}/open`, {
        method: 'POST',
        credentials: 'omit',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code: wanted }),
        signal,
      }),
    );
    if (!found) return;
    const { status } = found;
    if (status === 410) {
      forget();
      return show('off');
    }
    const { link, language, version } = status === 200 ? JSON.parse(found.text) : {};
    isOutdated = version !== undefined && version !== document.body.dataset.version;
    const fault = { 200: link ? undefined : 'notAsked', 400: 'typo', 429: 'wait' };
    const refusal = status in fault ? fault[status] : 'unknown';
    if (refusal) {
      cancel();
      code.value = '';
      say(refusal);
      return code.focus();
    }
    const chosen = document.documentElement.lang;
    await answer(mine, `/a/${link}`, chosen === home ? language : chosen);
  }

  // Shows the questions at a path.
  async function answer(mine, path, language) {
    const found = await persist(mine, (signal) =>
      fetch(`${path}?kiosk&language=${encodeURIComponent(language)}`, {
        credentials: 'omit',
        cache: 'no-store',
        signal,
      }),
    );
    if (!found) return;
    cancel();
    if (found.status !== 200) {
      forget();
      return say('unknown');
    }
    const page = new DOMParser().parseFromString(found.text, 'text/html');
    for (const one of page.querySelectorAll('script, style')) one.remove();
    session.replaceChildren(...page.querySelector('main').childNodes);
    byId('languages').replaceWith(page.getElementById('languages'));
    speak(page.documentElement.lang);
    document.documentElement.lang = page.documentElement.lang;
    document.documentElement.dir = page.documentElement.dir;
    code.value = '';
    say();
    const end = new AbortController();
    lastUse = Date.now();
    show('session');
    const send = answering({
      path,
      signal: end.signal,
      leaving: save,
      refused: () => {
        clearTimeout(slow);
        show('session');
      },
      ended: () => close('ended'),
      left: (address) => {
        const query = new URLSearchParams(address.replace(/#.*/, ''));
        if (query.has('saved')) return close('thanks');
        if (query.has('empty')) return forget();
        // Another language.
        clearTimeout(slow);
        end.abort();
        person = undefined;
        session.replaceChildren();
        show('entry');
        const next = begin();
        void answer(next, path, query.get('language'));
      },
    });
    person = { end, send };
  }

  // Hides the questions while their answers are sent.
  function save() {
    clearTimeout(slow);
    show('saving');
    slow = setTimeout(() => person && panel === 'saving' && show('unsaved'), 4000);
  }

  // Removes the questions, and shows for a while whether the answers were saved.
  function close(name) {
    clearTimeout(slow);
    person?.end.abort();
    person = undefined;
    session.replaceChildren();
    byId('languages').replaceWith(menu);
    if (idle.open) idle.close();
    show(name);
    countDown(thanksSeconds, forget);
  }

  // Ends without waiting for the person. What they have answered is still sent.
  function leave() {
    clearInterval(ticking);
    if (idle.open) idle.close();
    if (!person) return forget();
    save();
    const wait = () => {
      if (!person) return;
      if (person.send()) return void setTimeout(wait, 500);
      forget();
    };
    wait();
  }

  // A person who does nothing is asked, and then forgotten. A code that was entered halfway is forgotten as well.
  setInterval(() => {
    const seconds = (Date.now() - lastUse) / 1000;
    if (panel === 'session' && !idle.open && seconds >= idleSeconds) {
      idle.showModal();
      countDown(warningSeconds, leave);
    }
    const isUntouched = code.value === '' && !state.dataset.t && document.documentElement.lang === home;
    if (panel === 'entry' && !opening && !isUntouched && seconds >= codeSeconds) forget();
  }, 1000);
  for (const name of ['pointerdown', 'keydown', 'input', 'scroll', 'wheel']) {
    addEventListener(name, () => (lastUse = Date.now()), { capture: true, passive: true });
  }
  const stay = () => {
    clearInterval(ticking);
    lastUse = Date.now();
    if (idle.open) idle.close();
  };
  byId('stay').addEventListener('click', stay);
  idle.addEventListener('cancel', stay);
  byId('finish-now').addEventListener('click', leave);
  for (const one of all('.done-now')) one.addEventListener('click', forget);

  // Entering the code: with the buttons, a keyboard, or a scanner, which types it with the address before it.
  let typing;
  function typed() {
    clearTimeout(typing);
    if (state.dataset.t && !opening) say();
    // A scanner types faster than this, so a text is not taken for a code before it is complete.
    if (codeIn(code.value)) typing = setTimeout(() => open(code.value), 250);
    else if (/^[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}$/.test(code.value)) say('typo');
  }
  code.addEventListener('input', () => {
    code.value = grouped(code.value);
    typed();
  });
  byId('keys').addEventListener('click', ({ target }) => {
    const key = target.closest('button');
    if (!key || opening) return;
    const before = code.value.replace(/[\s-]/g, '');
    if (key.id === 'erase') code.value = grouped(before.slice(0, -1));
    else if (before.length < 12) code.value = grouped(before + key.textContent);
    typed();
  });
  byId('entry').addEventListener('submit', (event) => {
    event.preventDefault();
    clearTimeout(typing);
    void open(code.value);
  });
  byId('cancel').addEventListener('click', forget);
  // A scanner types wherever the focus is.
  addEventListener('keydown', ({ key, target }) => {
    if (panel === 'entry' && key.length === 1 && target !== code && target.tagName !== 'BUTTON') code.focus();
  });
  menu.addEventListener('click', ({ target }) => {
    const { language } = target.closest('button')?.dataset ?? {};
    if (language) speak(language);
  });

  function stopScanning() {
    stopCamera?.();
    stopCamera = undefined;
    byId('camera').hidden = true;
    byId('scan').hidden = !hasCamera;
  }
  byId('scan').addEventListener('click', async () => {
    say();
    byId('camera').hidden = false;
    byId('scan').hidden = true;
    try {
      stopCamera = await readCards(document.querySelector('#camera video'), open);
      if (byId('camera').hidden) stopScanning(); // stopped before the camera was on
    } catch {
      stopScanning();
      say('noCamera');
    }
  });
  byId('scan-stop').addEventListener('click', stopScanning);

  // A page that the browser keeps, and shows again when someone goes back, has nothing on it.
  addEventListener('pagehide', () => {
    person?.send();
    isOutdated = false;
    forget();
  });
  addEventListener('pageshow', ({ persisted }) => persisted && location.reload());
  forget();
})();
