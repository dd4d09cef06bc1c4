/** Problems of these inputs stand at the inputs themselves. */
export const shownPaths = ['name', 'subject', 'html', 'text', 'from_name', 'from_email', 'reply_to']
