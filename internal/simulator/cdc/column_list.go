package cdc

import "strings"

// parseColumnList splits @captured_column_list, whose names may be quoted with
// brackets or quotation marks.
func parseColumnList(list string) ([]string, error) {
	var names []string
	for rest := strings.TrimSpace(list); rest != ""; {
		name, tail, err := nextColumn(rest)
		if err != nil {
			return nil, err
		}
		names = append(names, name)
		rest = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(tail), ","))
	}
	return names, nil
}

func nextColumn(s string) (name, rest string, err error) {
	closing := map[byte]string{'[': "]", '"': "\""}[s[0]]
	if closing == "" {
		name, rest, _ = strings.Cut(s, ",")
		return strings.TrimSpace(name), rest, nil
	}
	for s = s[1:]; ; {
		part, tail, found := strings.Cut(s, closing)
		if !found {
			return "", "", errColumnQuoting()
		}
		name += part
		if !strings.HasPrefix(tail, closing) {
			return name, tail, nil
		}
		name += closing
		s = tail[1:]
	}
}
