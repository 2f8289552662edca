// Opens every page at the width of a phone, a comment and a screen, light and dark, and says what is wrong with it.
import fs from 'node:fs';
import path from 'node:path';
import { chromium } from 'playwright-core';

const [directory, shots] = process.argv.slice(2);
const flags = [
  '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
];
const wrong = [];
let checked = 0;

// As the page prints them: on one line, what steers text by its code.
const printable = (text) => text
  .replace(/[\n\t]/g, ' ').replace(/\r/g, '')
  .replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => `\\u{${c.codePointAt(0).toString(16)}}`);

// Runs in the page: everything that can be asked of the document itself.
const inPage = () => {
  const wrong = [];
  const say = (text) => wrong.push(text);
  const rgb = (text) => {
    const [r, g, b, a = 1] = text.match(/[\d.]+/g).map(Number);
    return { r, g, b, a };
  };
  const luminance = ({ r, g, b }) => {
    const part = (v) => ((v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  };
  const background = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const color = rgb(getComputedStyle(e).backgroundColor);
      if (color.a === 1) return color;
      if (color.a > 0) say(`a background that shines through: ${e.className}`);
    }
    return { r: 255, g: 255, b: 255 };
  };
  if (document.documentElement.scrollWidth > innerWidth) {
    const wide = [...document.querySelectorAll('body *')]
      .find((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('.scroll,.lines,nav,pre'));
    say(`overflows: ${document.documentElement.scrollWidth} > ${innerWidth}: ${wide?.outerHTML.slice(0, 200)}`);
  }
  // Nothing is cut: neither by a box that hides what doesn't fit, nor by the edge of the screen.
  for (const e of document.querySelectorAll('body *')) {
    const { overflowX, textOverflow, display } = getComputedStyle(e);
    if (display === 'inline' || e.closest('.scroll,.lines,pre,nav')) continue;
    const hides = ['hidden', 'clip'].includes(overflowX) || textOverflow === 'ellipsis';
    if (hides && e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1) say(`cut: ${e.outerHTML.slice(0, 160)}`);
    const box = e.getBoundingClientRect();
    if (box.width > 0 && (box.right > innerWidth + 1 || box.left < -1)) say(`beyond the edge: ${e.outerHTML.slice(0, 160)}`);
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || seen.has(element)) continue;
    seen.add(element);
    const style = getComputedStyle(element);
    const [a, b] = [luminance(rgb(style.color)), luminance(background(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) say(`contrast ${ratio.toFixed(2)}: ${node.data.trim().slice(0, 60)} (${element.className})`);
  }
  if (window.pwned) say('a script of the content ran');
  // The page's own script is the last element, and the policy lets no other run.
  for (const e of document.querySelectorAll('script, img, iframe, object, embed, link, base, form')) {
    if (e !== document.body.lastElementChild || e.tagName !== 'SCRIPT' || e.src) {
      say(`there is a ${e.tagName}: ${e.outerHTML.slice(0, 120)}`);
    }
  }
  for (const e of document.querySelectorAll('*')) {
    for (const { name, value } of e.attributes) {
      if (/^on|^style$/.test(name)) say(`${e.tagName} has ${name}`);
      if (name === 'href' && !/^(#|https:\/\/)/.test(value)) say(`links to ${value}`);
    }
  }
  let level = 0;
  for (const e of document.querySelectorAll('h1,h2,h3,h4,h5,h6')) {
    const is = Number(e.tagName[1]);
    if (is > level + 1) say(`${e.tagName} behind H${level}: ${e.textContent.slice(0, 60)}`);
    level = is;
  }
  for (const e of document.querySelectorAll('th:not([scope])')) say(`th without scope: ${e.textContent}`);
  for (const e of document.querySelectorAll('table')) {
    if (!e.querySelector('thead th')) say('a table without headers');
    if (!e.closest('.scroll')) say('a table outside of a box that scrolls');
  }
  for (const e of document.querySelectorAll('.scroll, .lines, pre')) {
    if (e.scrollWidth > e.clientWidth && e.tabIndex < 0) say('a box that scrolls and takes no focus');
  }
  const ids = [...document.querySelectorAll('[id]')].map((e) => e.id);
  for (const id of ids.filter((id, i) => ids.indexOf(id) !== i)) say(`id ${id} is there twice`);
  for (const e of document.querySelectorAll('a[href^="#"]')) {
    if (!document.getElementById(e.getAttribute('href').slice(1))) say(`${e.getAttribute('href')} leads nowhere`);
  }
  return wrong;
};

const expected = {
  report: ['matrix', 'findings', 'alerts', 'changes', 'clusters'],
  matrix: ['matrix'],
  diff: [],
  plan: [],
  upgrade: [],
};
const axe = fs.readFileSync(path.join(import.meta.dirname, 'node_modules/axe-core/axe.min.js'), 'utf8');

async function check(browser, file, width, colorScheme) {
  const name = path.basename(file, '.html');
  const kind = name.split('-').pop();
  const context = await browser.newContext({ viewport: { width, height: 800 }, colorScheme });
  const page = await context.newPage();
  const say = (text) => wrong.push(`${name} at ${width}, ${colorScheme}: ${text}`);
  page.on('console', (message) => say(`console: ${message.text()}`));
  page.on('pageerror', (error) => say(`error: ${error}`));
  page.on('dialog', (dialog) => { say(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', (request) => {
    if (request.url().split('#')[0] !== `file://${file}`) say(`request: ${request.url()}`);
  });
  await page.goto(`file://${file}`);
  if (shots) await page.screenshot({ path: `${shots}/${name}-${width}-${colorScheme}.png`, fullPage: true, caret: 'initial', timeout: 300_000 });
  // What the docs show: the first screen.
  const picture = { 'fleet-report 1000 light': 'report', 'fleet-matrix 400 dark': 'matrix-phone' }[`${name} ${width} ${colorScheme}`];
  if (shots && picture) await page.screenshot({ path: `${shots}/${picture}.png`, caret: 'initial' });
  const ask = async () => (await page.evaluate(inPage)).forEach(say);
  await ask();
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
  for (const { id, help, nodes } of violations) say(`axe: ${id}: ${help}: ${nodes[0].html.slice(0, 160)}`);
  // Tables sort by the column that is pressed, and keep the rows that hold what is typed.
  const table = page.locator('table.sortable').first();
  if (await table.count() > 0) {
    const cells = () => table.locator('tbody tr:visible th').allTextContents();
    const button = table.locator('thead button').first();
    await button.focus();
    await page.keyboard.press('Enter');
    const up = await cells();
    await page.keyboard.press('Enter');
    if (JSON.stringify([...up].reverse()) !== JSON.stringify(await cells())) say('a table is not sorted the other way');
    const filter = page.locator('input[type=search]').first();
    await filter.fill(up[0]);
    const kept = await cells();
    if (kept.length === 0 || !kept.every((text) => text.includes(up[0]) || up[0].includes(text))) say(`the filter keeps ${kept}`);
    await filter.fill('');
  }
  // The same with everything unfolded.
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = true; }));
  await ask();
  const linked = await page.locator('nav a').evaluateAll((all) => all.map((a) => a.getAttribute('href').slice(1)));
  for (const anchor of new Set([...expected[kind], ...linked])) {
    await page.goto(`file://${file}#${anchor}`);
    const place = await page.evaluate((anchor) => {
      const heading = document.querySelector(`#${anchor} h2`);
      const nav = document.querySelector('nav')?.getBoundingClientRect().bottom ?? 0;
      return heading && { top: heading.getBoundingClientRect().top, nav, height: innerHeight };
    }, anchor);
    if (!place) say(`no section ${anchor}`);
    else if (place.top < place.nav - 1 || place.top > place.height) say(`${anchor} is not where its link leads: ${JSON.stringify(place)}`);
  }
  const shown = (await page.evaluate(() => document.body.textContent.replace(/\s+/g, ' '))).replaceAll('`', '');
  if (/[\u202a-\u202e\u2066-\u2069]/.test(shown)) say('what turns text around is shown as it is');
  if (shown.includes('hunter2')) say('a secret is shown');
  if (kind === 'report') {
    const { findings } = JSON.parse(fs.readFileSync(file.replace('.html', '.json')));
    if (findings.length === 0) say('there are no findings to look for');
    for (const { message, help, rule, fix } of findings) {
      // Help that fixes repeat isn't printed, and a consequence stands below its edit, without a rule.
      const needed = [message, !fix?.length && help, rule !== 'change-consequence' && rule];
      for (const text of needed.filter(Boolean)) {
        if (!shown.includes(printable(text).replace(/\s+/g, ' ').replaceAll('`', ''))) say(`not shown: ${text}`);
      }
    }
  }
  // In print nothing is folded away.
  await page.evaluate(() => document.querySelectorAll('details').forEach((d) => { d.open = false; }));
  await page.emulateMedia({ media: 'print' });
  const hidden = await page.evaluate(() => {
    const folded = [...document.querySelectorAll('details > :not(summary)')];
    return folded.filter((e) => e.getBoundingClientRect().height === 0).length;
  });
  if (hidden > 0) say(`${hidden} folded parts are not printed`);
  checked += 1;
  await context.close();
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: flags });
const version = browser.version();
const files = fs.readdirSync(directory).filter((f) => f.endsWith('.html')).sort();
if (files.length !== 8) wrong.push(`eight pages were to be made: ${files}`);
for (const file of files) {
  for (const width of [400, 860, 1000, 1600]) {
    for (const scheme of ['light', 'dark']) await check(browser, path.join(directory, file), width, scheme);
  }
}
await browser.close();
const told = [...new Set(wrong)];
if (told.length > 0) {
  console.error(`browser: ${told.length} things are wrong\n${told.slice(0, 40).join('\n')}`);
  process.exit(1);
}
console.log(`browser: chromium ${version}, ${files.length} pages, ${checked} views as they should be`);
