// Lets Scalar's program work under the policy of the page, which forbids inline styles and code from text. Loaded before it.

// It adds style sheets as elements. It gets elements that browsers ignore instead, and their text is adopted as style sheets.
const createElement = Document.prototype.createElement;
Document.prototype.createElement = function (name, options) {
  if (String(name).toLowerCase() !== 'style') return createElement.call(this, name, options);
  const element = createElement.call(this, 'template');
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  const observer = new MutationObserver(() => sheet.replaceSync(element.textContent));
  observer.observe(element, { childList: true, characterData: true, subtree: true });
  return element;
};

// It writes some styles as attributes. As properties, they are allowed.
const setAttribute = Element.prototype.setAttribute;
Element.prototype.setAttribute = function (name, value) {
  if (name === 'style') this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

// Highlighted code arrives as HTML with styles.
const innerHTML = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML');
Object.defineProperty(Element.prototype, 'innerHTML', {
  ...innerHTML,
  set(html) {
    innerHTML.set.call(this, String(html).replaceAll(/(<[a-z]+[^<>]*) style="/g, '$1 data-style="'));
    for (const one of this.querySelectorAll('[data-style]')) {
      one.style.cssText = one.dataset.style;
      delete one.dataset.style;
    }
  },
});

// One of its libraries tries whether it can compile code. It can't, and the attempt would be reported as a violation.
function refuse() {
  throw new EvalError('The policy of this page forbids code from text.');
}
window.Function = new Proxy(window.Function, { apply: refuse, construct: refuse });
